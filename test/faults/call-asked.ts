import type { ThreadEvent } from 'holdpoint';

/** The call that a request is about, as the model made it. A stored request names its call by its place. */
export function callAsked(
  events: readonly ThreadEvent[],
  requestId: string,
): { toolCallId: string; input: unknown } | undefined {
  const opened = events.find(
    (event) => event.type === 'request-opened' && event.request.requestId === requestId,
  );
  if (opened?.type !== 'request-opened' || opened.place === undefined) return undefined;
  const { step, index } = opened.place;
  const made = events.find((event) => event.type === 'step-finished' && event.step === step);
  const content = made?.type === 'step-finished' ? made.message?.content : undefined;
  if (!Array.isArray(content)) return undefined;
  return content.filter((part) => part.type === 'tool-call')[index];
}
