import type { FileUIPart } from 'ai';
import { parseBase64 } from '../../../content/base64.ts';
import { inertText } from '../../../content/inert-text.ts';
import { HoldpointError } from '../../../errors.ts';

const token = '[\\w!#$&^.+-]+';
const mediaTypePattern = new RegExp(`^${token}/(?:\\*|${token})(?: *; *${token}=[^\\s,;]+)*$`);
const dataUrlPattern = new RegExp(
  `^data:${token}/${token}(?:;${token}=[^;,]+)*;base64,(.*)$`,
  'is',
);

/**
 * A file of a user's message, with only the fields that a page may set. Throws `invalid-input` with the file and the reason if no provider
 * could accept the file: once recorded it would fail every run of the thread.
 */
export function checkAttachment(
  { type, mediaType, filename, url }: FileUIPart,
  place: number,
): FileUIPart {
  const fault = findAttachmentFault(mediaType, url);
  if (fault === undefined) {
    return { type, mediaType, url, ...(filename === undefined ? {} : { filename }) };
  }
  const name =
    filename === undefined
      ? `File ${place} of the message`
      : `The file "${inertText(filename.slice(0, 100).toWellFormed())}"`;
  throw new HoldpointError('invalid-input', `${name} can't be sent: ${fault}.`);
}

function findAttachmentFault(mediaType: string, url: string): string | undefined {
  if (!URL.canParse(url)) return 'it has no valid address';
  const { protocol } = new URL(url);
  switch (protocol) {
    case 'http:':
    case 'https:':
      return findMediaTypeFault(mediaType);
    case 'data:':
      return findMediaTypeFault(mediaType) ?? findDataFault(url);
    default:
      return `it has a ${protocol.slice(0, 20)} address; http:, https: and data: can be sent`;
  }
}

function findMediaTypeFault(mediaType: string): string | undefined {
  if (mediaType === '') return 'it has no media type, such as "application/pdf"';
  return mediaTypePattern.test(mediaType) ? undefined : 'its media type is malformed';
}

function findDataFault(url: string): string | undefined {
  const [, content] = dataUrlPattern.exec(url) ?? [];
  if (content === undefined)
    return 'its data URL is malformed; it must be data:<type>;base64,<bytes>';
  if (content === '') return 'it is empty';
  try {
    parseBase64(content);
    return undefined;
  } catch {
    return 'its content is not valid base64';
  }
}
