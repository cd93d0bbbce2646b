import type { ModelMessage } from 'ai';
import { z } from 'zod';
import { fileUrl } from '../../../content/file-url.ts';
import type { AgUiPart } from '../output/ag-ui-event.ts';

type UserContent = Extract<ModelMessage, { role: 'user' }>['content'];
type UserPart = Exclude<UserContent, string>[number];

const textSchema = z.object({ type: z.literal('text'), text: z.string() });
const mediaSchema = z.object({
  type: z.enum(['image', 'audio', 'video', 'document']),
  source: z.discriminatedUnion('type', [
    z.object({
      type: z.literal('url'),
      value: z.url({ protocol: /^https?$/ }),
      mimeType: z.string().optional(),
    }),
    z.object({ type: z.literal('data'), value: z.base64(), mimeType: z.string() }),
  ]),
});
const partSchema = z.union([textSchema, mediaSchema]);
const contentSchema = z.union([z.string(), z.array(z.unknown())]);

/**
 * What a user's message says to the model; `undefined` for what is no content. A part that can't be used is left out, as the protocol
 * wants, and with it what is meant for a provider alone: its file handles.
 */
export function userContent(content: unknown): UserContent | undefined {
  const { data } = contentSchema.safeParse(content);
  if (data === undefined || typeof data === 'string') return data;
  return data.flatMap((part) => {
    const parsed = partSchema.safeParse(part);
    return parsed.success ? [userPart(parsed.data)] : [];
  });
}

function userPart(part: z.infer<typeof partSchema>): UserPart {
  if (part.type === 'text') return part;
  const { type, source } = part;
  const mediaType =
    source.mimeType ?? (type === 'document' ? 'application/octet-stream' : `${type}/*`);
  return {
    type: 'file',
    mediaType,
    data: source.type === 'url' ? new URL(source.value) : source.value,
  };
}

/** A user's message as a client shows it. */
export function clientContent(content: UserContent): string | AgUiPart[] {
  if (typeof content === 'string') return content;
  return content.flatMap((part): AgUiPart[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    const mimeType = part.mediaType ?? 'image/*';
    const value = fileUrl(part.type === 'image' ? part.image : part.data, mimeType);
    if (value === undefined) return [];
    return [{ type: kindOf(mimeType), source: { type: 'url', value, mimeType } }];
  });
}

function kindOf(mimeType: string): 'image' | 'audio' | 'video' | 'document' {
  const [kind] = mimeType.split('/');
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
}
