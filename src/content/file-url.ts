import { toBase64 } from './base64.ts';

/** The URL under which a client shows the file of a message; `undefined` for one that it can't. */
export function fileUrl(data: unknown, mediaType: string): string | undefined {
  if (data instanceof URL) return data.href;
  if (typeof data === 'string') return URL.canParse(data) ? data : dataUrl(data, mediaType);
  if (data instanceof ArrayBuffer) return dataUrl(toBase64(new Uint8Array(data)), mediaType);
  if (data instanceof Uint8Array) return dataUrl(toBase64(data), mediaType);
  if (typeof data !== 'object' || data === null) return undefined;
  if ('url' in data) return fileUrl(data.url, mediaType);
  return 'data' in data ? fileUrl(data.data, mediaType) : undefined;
}

function dataUrl(base64: string, mediaType: string): string {
  return `data:${mediaType};base64,${base64}`;
}
