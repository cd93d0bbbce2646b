import { inertText } from '../../../content/inert-text.ts';
import { HoldpointError } from '../../../errors.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';

const maximumLength = 120;
const maximumNamed = 3;

/** The refusal of a message that came while something waits, in words for the person who typed it; any other error as it is. */
export function readableRefusal(error: unknown, thread: AgentThread): unknown {
  if (!HoldpointError.isInstance(error)) return error;
  switch (error.code) {
    case 'requests-open':
      return new HoldpointError(error.code, waitingText(thread), { cause: error });
    case 'thread-busy':
      return new HoldpointError(
        error.code,
        'Your message was not sent: the agent is still working. Send it again when it is done.',
        { cause: error },
      );
    default:
      return error;
  }
}

function waitingText({ activeRequests, calls }: AgentThread): string {
  const asked = activeRequests.map(({ text }) => text);
  const working = calls
    .filter(({ status }) => status === 'deferred')
    .map(({ toolName }) => toolName);
  if (asked.length === 0) {
    return `Your message was not sent: ${named(working)} is still at work. Wait for the result or cancel it, then send your message again.`;
  }
  return `Your message was not sent: the agent is waiting for an answer to ${named(asked)}. Answer or cancel, then send your message again.`;
}

function named(texts: readonly string[]): string {
  const shown = texts.slice(0, maximumNamed).map((text) => `“${shortened(text)}”`);
  const more = texts.length - shown.length;
  return [...shown, ...(more === 0 ? [] : [`${more} more`])].join(' and ');
}

function shortened(text: string): string {
  const [line = ''] = inertText(text.trim()).split('\n');
  return line.length > maximumLength ? `${line.slice(0, maximumLength)}…` : line;
}
