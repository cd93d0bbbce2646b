/** The type of a file, detected from its bytes. */
export interface FileType {
  /** The name for people. */
  name: string;
  /** The media type for the browser: never the declared one. */
  mediaType: string;
  kind: 'image' | 'text' | 'binary';
}

const image = (name: string, mediaType: string): FileType => ({ name, mediaType, kind: 'image' });
const other = (name: string, mediaType: string): FileType => ({ name, mediaType, kind: 'binary' });

/* The beginnings of files, as Latin-1; `*` stands for any byte. */
const beginnings: [string, FileType][] = [
  ['\x89PNG\r\n\x1a\n', image('PNG image', 'image/png')],
  ['\xff\xd8\xff', image('JPEG image', 'image/jpeg')],
  ['GIF87a', image('GIF image', 'image/gif')],
  ['GIF89a', image('GIF image', 'image/gif')],
  ['RIFF****WEBP', image('WebP image', 'image/webp')],
  ['****ftypavif', image('AVIF image', 'image/avif')],
  ['%PDF-', other('PDF document', 'application/pdf')],
  ['PK\x03\x04', other('ZIP archive, or an Office document', 'application/zip')],
  ['\x1f\x8b', other('gzip archive', 'application/gzip')],
  ['\x7fELF', other('Linux program', 'application/x-executable')],
];
/* A text may begin so too. */
const program = other('Windows program', 'application/x-msdownload');
const svg = /^\uFEFF?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--[^]*?-->\s*|<!DOCTYPE[^>]*>\s*)*<svg[\s>]/i;

/** Detects the type of a file from its bytes, with its text if it is one. */
export function detectFileType(bytes: Uint8Array): FileType & { text?: string } {
  const known = beginnings.find(([start]) => beginsWith(bytes, start))?.[1];
  const text = known === undefined ? readText(bytes) : undefined;
  if (text === undefined) {
    const unknown = other('binary file', 'application/octet-stream');
    return known ?? (beginsWith(bytes, 'MZ') ? program : unknown);
  }
  if (svg.test(text.slice(0, 4_000))) return { ...image('SVG image', 'image/svg+xml'), text };
  return { name: 'text', mediaType: 'text/plain', kind: 'text', text };
}

function beginsWith(bytes: Uint8Array, start: string): boolean {
  return Array.from(start).every(
    (each, index) => each === '*' || each.charCodeAt(0) === bytes[index],
  );
}

function readText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Writes bytes as hexadecimal digits. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Describes a number of bytes in the reader's language: `12,345 bytes (12.3 kB)`. */
export function describeSize(length: number, locale: string): string {
  const all = new Intl.NumberFormat(locale, { style: 'unit', unit: 'byte', unitDisplay: 'long' });
  if (length < 1_000) return all.format(length);
  const isLarge = length >= 1_000_000;
  const short = new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: isLarge ? 'megabyte' : 'kilobyte',
    maximumFractionDigits: 1,
  });
  return `${all.format(length)} (${short.format(length / (isLarge ? 1_000_000 : 1_000))})`;
}

/** Decodes a base64 text; `undefined` for any other text. */
export function readBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  /* `atob` ignores white space, and pads. */
  if (text.length % 4 !== 0 || !/^[A-Za-z\d+/]*={0,2}$/.test(text)) return undefined;
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
