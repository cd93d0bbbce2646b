import type { FilePart, ImagePart } from 'ai';
import { makeFileUrl } from './file-url.ts';

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
