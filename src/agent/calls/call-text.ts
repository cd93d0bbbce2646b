import type { ModelMessage, Tool } from 'ai';

/** Makes the text of a request about a call of a tool, from the messages of its thread. */
export type DescribeCall = (messages: readonly ModelMessage[]) => string;

/** The functions with which tools describe their calls: people are asked this where the rule has no text. */
export const callTexts = new WeakMap<Tool, DescribeCall>();
