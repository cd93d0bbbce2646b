import type { FilePart, ImagePart } from 'ai';
import { toBase64 } from '../json/base64.ts';

/** The URL under which a client can show a file of a message; `undefined` if there is none. */
export function makeFileUrl(data: unknown, mediaType: string): string | undefined {
  if (data instanceof URL) return data.href;
  if (typeof data === 'string') return URL.canParse(data) ? data : makeDataUrl(data, mediaType);
  if (data instanceof ArrayBuffer) return makeDataUrl(toBase64(new Uint8Array(data)), mediaType);
  if (data instanceof Uint8Array) return makeDataUrl(toBase64(data), mediaType);
  if (typeof data !== 'object' || data === null) return undefined;
  if ('url' in data) return makeFileUrl(data.url, mediaType);
  return 'data' in data ? makeFileUrl(data.data, mediaType) : undefined;
}

function makeDataUrl(base64: string, mediaType: string): string {
  return `data:${mediaType};base64,${base64}`;
}

/* `gs:` and `s3:` are for providers that read from their own platform's buckets. */
const sendable = ['https:', 'http:', 'data:', 'gs:', 's3:'];
const mediaTypePattern = /^[\w!#$&^.+-]+(\/[\w!#$&^.+*-]+(\s*;.*)?)?$/;
const base64Pattern = /^[\w+/\s-]*={0,2}$/;

/** Finds the reason why a file of a message can't be sent to any provider; `undefined` if it can. A provider may still refuse it. */
export function whyNotSendable(data: unknown, mediaType: string | undefined): string | undefined {
  if (mediaType !== undefined && !mediaTypePattern.test(mediaType)) {
    return `'${mediaType.slice(0, 100)}' is not a media type`;
  }
  if (data instanceof URL) return whyNotUrl(data.href);
  if (typeof data === 'string') {
    if (URL.canParse(data)) return whyNotUrl(data);
    return base64Pattern.test(data.trim()) ? undefined : 'it is neither a URL nor base64';
  }
  if (typeof data !== 'object' || data === null) return undefined;
  if ('url' in data) return whyNotSendable(data.url, undefined);
  return 'type' in data && data.type === 'data' && 'data' in data
    ? whyNotSendable(data.data, undefined)
    : undefined;
}

function whyNotUrl(url: string): string | undefined {
  const { protocol } = new URL(url);
  if (!sendable.includes(protocol)) {
    return `its URL begins with '${protocol}'; a file is sent as a data: URL, or read from https:`;
  }
  if (protocol !== 'data:') return undefined;
  const comma = url.indexOf(',');
  const [mediaType = '', ...parameters] = url.slice('data:'.length, Math.max(comma, 0)).split(';');
  const isData =
    mediaTypePattern.test(mediaType) &&
    parameters.at(-1)?.toLowerCase() === 'base64' &&
    base64Pattern.test(url.slice(comma + 1).trim());
  return isData ? undefined : 'its data: URL is not of the form data:<media type>;base64,<base64>';
}

/** A file or an image of a user's message, as clients show it; `undefined` for one that has no URL, such as a provider's file id. */
export function toShownFile(
  part: FilePart | ImagePart,
): { mediaType: string; url: string; filename?: string } | undefined {
  const mediaType = part.mediaType ?? 'image/*';
  const url = makeFileUrl(part.type === 'image' ? part.image : part.data, mediaType);
  if (url === undefined) return undefined;
  const { filename } = part.type === 'file' ? part : {};
  return { mediaType, url, ...(filename === undefined ? {} : { filename }) };
}
