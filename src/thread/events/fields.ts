import { z } from 'zod';
import { patchSchema } from '../../content/tool-call.ts';

/* Fields that events share. */

/** The time of the event, in milliseconds since 1970. */
export const always = { at: z.number() };
/** A call. */
export const placeFields = { step: z.int(), index: z.int() };
/** The person who did it, as authenticated by the app, and the channel that they used. */
export const by = { principal: z.unknown().optional(), channel: z.string().optional() };
/** The same, with the person as text, which people may be shown. */
export const namedBy = { ...by, person: z.string().optional() };
/** The person who answered, as text that is the same for all their principals, and the person who had asked them to answer instead. */
export const voter = { person: z.string().optional(), onBehalfOf: z.string().optional() };
/** The revision of a sub-agent's thread with the event that this one repeats. */
export const mirrored = { mirrors: z.int().optional() };
/** A person's change of a call's input. */
export const editSchema = z.strictObject({
  input: z.unknown(),
  /** Empty if the edit takes back an earlier one. */
  patches: z.array(patchSchema),
  /** The question for people about the edited input. Absent if it is the one that was asked. */
  text: z.string().optional(),
  /** Covers the request, the edited input and the text. */
  digest: z.string(),
});

/** The W3C Trace Context (version 00) of a span; never all zeros. */
export const traceparentSchema = z
  .string()
  .regex(/^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/);

export const parentSchema = z.strictObject({
  /** The parent thread. */
  threadId: z.string(),
  toolCallId: z.string(),
  /** The names of the agents in the path, outermost first; `null` for an agent without a name. */
  agents: z.array(z.string().nullable()),
});
/** The delegated call of a child thread. */
export type ParentCall = z.infer<typeof parentSchema>;
