import type { ModelMessage, Tool } from 'ai';

/** Makes the text of a request about a call of a tool, from the messages of its thread. */
export type DescribeCall = (messages: readonly ModelMessage[]) => string;

/** How tools describe their calls: what people are asked where the rule has no text. */
export const callTexts = new WeakMap<Tool, DescribeCall>();
