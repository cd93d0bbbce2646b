/*
 * The platform's base64 is two orders of magnitude faster than a loop over characters, and a message may contain 20 MB. Newer runtimes have
 * it on `Uint8Array`, which TypeScript's library does not declare yet; Node also has `Buffer`.
 */
const nodeBuffer = globalThis.process?.getBuiltinModule?.('node:buffer')?.Buffer;
const chunkLength = 0x8000;

/** Bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  if (hasNativeBase64(bytes)) return bytes.toBase64();
  if (nodeBuffer !== undefined) {
    return nodeBuffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  }
  let binary = '';
  for (let offset = 0; offset < bytes.length; offset += chunkLength) {
    binary += String.fromCharCode(...bytes.subarray(offset, offset + chunkLength));
  }
  return btoa(binary);
}

function hasNativeBase64(
  bytes: Uint8Array,
): bytes is Uint8Array & { toBase64: (this: Uint8Array) => string } {
  return 'toBase64' in bytes && typeof bytes.toBase64 === 'function';
}

/** The bytes of a base64 text. Throws a `TypeError` for any other text. */
export function parseBase64(text: string): Uint8Array<ArrayBuffer> {
  const bytes =
    nodeBuffer === undefined ? decodeBase64(text) : new Uint8Array(nodeBuffer.from(text, 'base64'));
  /* `Buffer` ignores invalid characters. */
  if (toBase64(bytes) !== text) throw new TypeError('The text is not valid base64.');
  return bytes;
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

/** Bytes as base64url without padding. */
export function toBase64url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** The bytes of a text that `toBase64url` wrote; `undefined` for any other text. */
export function parseBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w-]*$/.test(text)) return undefined;
  try {
    const padding = '='.repeat((4 - (text.length % 4)) % 4);
    return parseBase64(text.replaceAll('-', '+').replaceAll('_', '/') + padding);
  } catch {
    return undefined;
  }
}
