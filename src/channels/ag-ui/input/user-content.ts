import type { ModelMessage } from 'ai';
import { z } from 'zod';
import { toShownFile } from '../../../content/shown-file.ts';
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
 * The content of a user's message for the model; `undefined` if it is invalid. Parts that can't be used are left out, as the protocol
 * demands, and so are a provider's file ids.
 */
export function parseUserContent(content: unknown): UserContent | undefined {
  const { data } = contentSchema.safeParse(content);
  if (data === undefined || typeof data === 'string') return data;
  return data.flatMap((part) => {
    const parsed = partSchema.safeParse(part);
    return parsed.success ? [toUserPart(parsed.data)] : [];
  });
}

function toUserPart(part: z.infer<typeof partSchema>): UserPart {
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

/** The content of a user's message as a client shows it. */
export function toClientContent(content: UserContent): string | AgUiPart[] {
  if (typeof content === 'string') return content;
  return content.flatMap((part): AgUiPart[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    const file = toShownFile(part);
    if (file === undefined) return [];
    const { mediaType: mimeType, url: value } = file;
    return [{ type: classifyMediaType(mimeType), source: { type: 'url', value, mimeType } }];
  });
}

function classifyMediaType(mimeType: string): 'image' | 'audio' | 'video' | 'document' {
  const [kind] = mimeType.split('/');
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
}
