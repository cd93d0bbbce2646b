import { inertLine } from '../../../content/inert-text.ts';
import { HoldpointError } from '../../../errors.ts';
import {
  lookDifferent,
  normalizeVisible,
  type CallAddress,
  pickCallIds,
  selectionSchema,
} from '../messages.ts';
import type { Caller, SendCallback } from './callers.ts';
import type { ChoicePrompt, Selection, ServedCall } from './tool-server-options.ts';
import { makeRandomId } from '../../../content/crypto.ts';

/** The inputs of `makeUserAsker`. */
interface AskContext {
  caller: Caller;
  address: CallAddress;
  /** The URL at which the runtime reaches this server. */
  baseUrl: string;
  prompts: OpenPrompts;
  send: SendCallback;
  /** Aborts when the call is stopped or has ended. */
  signal: AbortSignal;
}

/** Creates `askUser` for one call. Prompts are sent one after the other: a second one would replace the first in the runtime. */
export function makeUserAsker(context: AskContext): ServedCall['askUser'] {
  let before: Promise<unknown> = Promise.resolve();
  return function askUser(choice) {
    const checked = checkPrompt(choice);
    const selection = before.then(() => ask(context, checked));
    before = selection.catch(() => {});
    return selection;
  };
}

async function ask(
  { address, caller, baseUrl, prompts, send, signal }: AskContext,
  choice: ChoicePrompt,
): Promise<Selection> {
  const finished = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const stop = (): void => reject(explainStop(signal));
  if (signal.aborted) throw explainStop(signal);
  signal.addEventListener('abort', stop, { signal: finished.signal });
  const secret = prompts.open(caller, resolve);
  const message = {
    type: 'user_choice',
    ...pickCallIds(address),
    prompt: choice.prompt,
    choices: choice.choices,
    default: choice.default,
    response_url: `${baseUrl}/user_choice_response/${secret}`,
  };
  try {
    send(address.callback_url, message, AbortSignal.any([signal, finished.signal])).catch(
      (cause: unknown) => reject(makeFlowError('request-closed', cause)),
    );
    return readSelection(await promise, address.id, choice.choices);
  } finally {
    finished.abort();
    prompts.close(caller, secret);
  }
}

function readSelection(json: unknown, id: string, choices: readonly string[]): Selection {
  const { data } = selectionSchema.safeParse(json);
  const label = data?.id === id ? choices[data.selected] : undefined;
  if (data === undefined || label === undefined) {
    throw makeFlowError('invalid-answer', new TypeError('The selection is not valid.'));
  }
  return { selected: data.selected, label };
}

/* At the deadline the person has not chosen, so the prompt has failed; otherwise the call was cancelled. */
function explainStop({ reason }: AbortSignal): unknown {
  return reason instanceof DOMException && reason.name === 'TimeoutError'
    ? makeFlowError('request-closed', reason)
    : reason;
}

/* The protocol prescribes this text. */
function makeFlowError(code: 'invalid-answer' | 'request-closed', cause: unknown): HoldpointError {
  return new HoldpointError(code, 'User choice flow failed. Please try again.', { cause });
}

/* A valid copy of a prompt; throws a `TypeError` for an invalid one. */
function checkPrompt({ prompt, choices, default: preset }: ChoicePrompt): ChoicePrompt {
  if (normalizeVisible(prompt) === '') throw new TypeError('The prompt is empty.');
  if (choices.length === 0) throw new TypeError('The prompt has no choices.');
  for (const label of choices) {
    const fault = findLabelFault(label);
    if (fault !== undefined) throw new TypeError(`The choice ${JSON.stringify(label)} ${fault}.`);
  }
  if (!lookDifferent(choices)) {
    throw new TypeError('Two choices have labels that look the same.');
  }
  if (!Number.isInteger(preset) || preset < 0 || preset >= choices.length) {
    throw new TypeError(`The default ${preset} is not the index of a choice.`);
  }
  return { prompt, choices: [...choices], default: preset };
}

/* A label with characters that a screen can't show would mislead. */
function findLabelFault(label: unknown): string | undefined {
  if (typeof label !== 'string') return 'is not a string';
  if (label.trim() === '') return 'is empty';
  /* `inertLine` doubles backslashes, which are harmless. */
  const isPlain = inertLine(label) === label.replaceAll('\\', '\\\\');
  return isPlain ? undefined : 'has control, bidi or invisible characters';
}

/* The number of answered prompts to remember: the same selection may be sent twice. */
const maximumAnswered = 10_000;

/** The prompts that wait for a selection, by their caller and the secret at the end of their URLs. */
export class OpenPrompts {
  readonly #open = new Map<string, (json: unknown) => void>();
  readonly #answered = new Set<string>();

  /** Opens a prompt to a caller and returns its secret. `onSelection` is called with what the caller posts to its URL. */
  open(caller: Caller, onSelection: (json: unknown) => void): string {
    const secret = makeRandomId();
    this.#open.set(makePromptKey(caller, secret), onSelection);
    return secret;
  }

  /**
   * Answers a prompt. Returns true if it is the signer's and is open, or was answered before. Where nothing is signed, the secret suffices.
   */
  answer(signer: Caller | undefined, secret: string, json: unknown): boolean {
    const key = makePromptKey(signer, secret);
    const onSelection = this.#open.get(key);
    if (onSelection === undefined) return this.#answered.has(key);
    this.#answered.add(key);
    const [oldest] = this.#answered;
    if (this.#answered.size > maximumAnswered && oldest !== undefined) {
      this.#answered.delete(oldest);
    }
    onSelection(json);
    return true;
  }

  close(caller: Caller, secret: string): void {
    this.#open.delete(makePromptKey(caller, secret));
  }
}

function makePromptKey(caller: Caller | undefined, secret: string): string {
  const signer = caller?.signatures === undefined ? null : caller.id;
  return JSON.stringify([signer, secret]);
}
