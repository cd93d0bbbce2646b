import type { UserModelMessage } from 'ai';
import { z } from 'zod';
import { quoteInertLine } from '../../content/inert-text.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';

/* The record of a call in its thread's only message. */
const callRecordSchema = z.strictObject({
  /** The gate's own id of the call, by which the message of a thread is recognized. */
  id: z.string(),
  tool: z.string(),
  /** The name of the upstream that has the tool. Gates in front of others may share the store, with tools of the same names. */
  upstream: z.string(),
  input: z.record(z.string(), z.unknown()),
  /** The client's name, by its own account. */
  client: z.string(),
  /** The client's id of the call, if it sends one. */
  clientCallId: z.string().optional(),
  place: z.string().optional(),
});

/** A call of a client, as its thread keeps it. */
export type CallRecord = z.infer<typeof callRecordSchema>;

/* In a part, because repeated messages are compared by their content, not by their options. */
const callMessageSchema = z.object({
  role: z.literal('user'),
  content: z.tuple([
    z.object({
      providerOptions: z.object({ holdpoint: z.object({ gate: callRecordSchema }) }),
    }),
  ]),
});

const jsonSchema = z.record(z.string(), z.json());

/** Makes the message that begins the thread of a call. */
export function makeCallMessage(record: CallRecord): UserModelMessage {
  const text = `${quoteInertLine(record.client)} calls ${quoteInertLine(record.tool)}.`;
  const gate = jsonSchema.parse(record);
  return {
    role: 'user',
    content: [{ type: 'text', text, providerOptions: { holdpoint: { gate } } }],
  };
}

/** Reads the call from the message that began a thread; `undefined` for another thread. */
export function readCallMessage(message: unknown): CallRecord | undefined {
  const { data } = callMessageSchema.safeParse(message);
  return data?.content[0].providerOptions.holdpoint.gate;
}

/** Reads the call that a thread was made for. */
export function readCallRecord({ messages }: AgentThread): CallRecord | undefined {
  return readCallMessage(messages[0]);
}

/* A longer name, or one that is several words, could pass for a sentence of ours. */
const plainName = /^[A-Za-z0-9][\w.@/-]{0,63}$/;

/** Names the client of a call, for people: in quotation marks unless its name is a plain one. */
export function nameClient(record: CallRecord | undefined): string {
  if (record === undefined) return 'The agent';
  const { client } = record;
  return plainName.test(client) ? client : `The client ${quoteInertLine(client.slice(0, 64))}`;
}
