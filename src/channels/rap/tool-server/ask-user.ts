import { HoldpointError } from '../../../errors.ts';
import type { SendCallback } from './callbacks.ts';
import { checkedChoice } from './check-choice.ts';
import { type Address, namesOf, selectionSchema } from './messages.ts';
import type { OpenPrompts } from './open-prompts.ts';
import type { Selection, ServedCall, UserChoice } from './tool-server-options.ts';

/** What asking for a call needs. */
interface Asking {
  address: Address;
  /** Where this server is reached. */
  baseUrl: string;
  prompts: OpenPrompts;
  send: SendCallback;
  /** Aborts when the call stops or has ended. */
  signal: AbortSignal;
}

/** `askUser` of one call. A runtime holds one prompt of a call, and a second would take its place: so they go one by one. */
export function userAsker(asking: Asking): ServedCall['askUser'] {
  let before: Promise<unknown> = Promise.resolve();
  return function askUser(choice) {
    const checked = checkedChoice(choice);
    const selection = before.then(() => ask(asking, checked));
    before = selection.catch(() => {});
    return selection;
  };
}

async function ask(
  { address, baseUrl, prompts, send, signal }: Asking,
  choice: UserChoice,
): Promise<Selection> {
  const over = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const stop = (): void => reject(whyStopped(signal));
  if (signal.aborted) throw whyStopped(signal);
  signal.addEventListener('abort', stop, { signal: over.signal });
  const secret = prompts.open(resolve);
  const message = {
    type: 'user_choice',
    ...namesOf(address),
    prompt: choice.prompt,
    choices: choice.choices,
    default: choice.default,
    response_url: `${baseUrl}/user_choice_response/${secret}`,
  };
  try {
    send(address.callback_url, message, AbortSignal.any([signal, over.signal])).catch(
      (cause: unknown) => reject(flowFailed('request-closed', cause)),
    );
    return readSelection(await promise, address.id, choice.choices);
  } finally {
    over.abort();
    prompts.close(secret);
  }
}

function readSelection(json: unknown, id: string, choices: readonly string[]): Selection {
  const { data } = selectionSchema.safeParse(json);
  const label = data?.id === id ? choices[data.selected] : undefined;
  if (data === undefined || label === undefined) {
    throw flowFailed('invalid-answer', new TypeError('This is no selection.'));
  }
  return { selected: data.selected, label };
}

/* When time is over the person has not chosen, which is a failure of the choice; else the call is not wanted any more. */
function whyStopped({ reason }: AbortSignal): unknown {
  return reason instanceof DOMException && reason.name === 'TimeoutError'
    ? flowFailed('request-closed', reason)
    : reason;
}

/* The words are the protocol's. */
function flowFailed(code: 'invalid-answer' | 'request-closed', cause: unknown): HoldpointError {
  return new HoldpointError(code, 'User choice flow failed. Please try again.', { cause });
}
