import { HoldpointError } from '../../../errors.ts';
import type { SendCallback } from './send-callback.ts';
import { checkedChoice } from './ask-user.ts';
import { type Address, namesOf, selectionSchema } from './runtime-messages.ts';
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

/* MERGED from rap/tool-server/ask-for-session.ts */
import type { SessionGrants } from './grant-store.ts';
import type { ServedCall, SessionPermission } from './tool-server-options.ts';

const choices = ['Yes for session', 'Yes once', 'No'] as const;

/** `askForSession` of one call: the least that can be permitted is asked for, and no is where nothing is picked. */
export function sessionAsker(
  askUser: ServedCall['askUser'],
  grants: SessionGrants,
): ServedCall['askForSession'] {
  return function askForSession(permission) {
    const answer = ask(permission);
    /* A tool that ends before it looks at the answer must not end the process. */
    answer.catch(() => {});
    return answer;
  };

  async function ask({ prompt, key }: SessionPermission): Promise<boolean> {
    if (await grants.get(key)) return true;
    const { label } = await askUser({ prompt, choices, default: choices.indexOf('No') });
    if (label === 'Yes for session') await grants.set(key);
    return label === 'Yes for session' || label === 'Yes once';
  }
}

/* MERGED from rap/tool-server/check-choice.ts */
import { inertLine } from '../../../content/inert-text.ts';
import { textAsSeen } from '../visible-text.ts';
import type { UserChoice } from './tool-server-options.ts';

/** A copy of a choice that can be asked; throws a `TypeError` for one that can't. */
export function checkedChoice({ prompt, choices, default: preset }: UserChoice): UserChoice {
  if (textAsSeen(prompt) === '') throw new TypeError('The prompt is empty.');
  if (choices.length === 0) throw new TypeError('There is nothing to choose from.');
  for (const label of choices) {
    const fault = whyNotLabel(label);
    if (fault !== undefined) throw new TypeError(`The choice ${JSON.stringify(label)} ${fault}.`);
  }
  if (new Set(choices.map(textAsSeen)).size < choices.length) {
    throw new TypeError('Two choices have the same label: nobody could tell them apart.');
  }
  if (!Number.isInteger(preset) || preset < 0 || preset >= choices.length) {
    throw new TypeError(`The default ${preset} is no index of a choice.`);
  }
  return { prompt, choices: [...choices], default: preset };
}

/* A label that a screen could not show as it is would mislead. */
function whyNotLabel(label: unknown): string | undefined {
  if (typeof label !== 'string') return 'is no text';
  if (label.trim() === '') return 'is empty';
  /* A backslash is shown doubled, and hides nothing. */
  const isPlain = inertLine(label) === label.replaceAll('\\', '\\\\');
  return isPlain ? undefined : 'has control, bidi or invisible characters';
}
