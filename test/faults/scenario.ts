import type { UserInputRequestContent, UserInputResponseContent } from 'holdpoint';
import type { PlannedCall } from './stateless-model.ts';

/** One message of a person, and the calls that the model makes of it. */
export interface Turn {
  message: string;
  calls: readonly PlannedCall[];
}

/** A conversation, and how its requests are answered. `book` needs approval, `look` does not. */
export interface Scenario {
  name: string;
  turns: readonly Turn[];
  /** The cities that are approved; by default all. */
  approves?: (city: string) => boolean;
  /** One answer a request to the agent, where by default all are sent together. */
  oneByOne?: boolean;
  /** Answers are recorded by `respond`, and `run([])` goes on. */
  responds?: boolean;
  /** A person settles calls of unknown outcome, after a look at what really happened. */
  settles?: boolean;
  /** A function takes the steps instead of a model, and asks about its plan. */
  isCustom?: boolean;
  /** How many processes send the same answers at once; default one. */
  processes?: number;
  /** What the tools can say of a call that was lost: whether it happened, or only that it did. */
  reconciles?: 'always' | 'when-done';
  /** The tools' server does a thing once for a key, and so often a call may be started. */
  maxAttempts?: number;
  /** `book` goes on outside: its execute returns `later`, or it has none and the client does it. */
  defers?: 'later' | 'client';
  /** Whoever does deferred work asks a person first, and waits for the answer. */
  asks?: boolean;
  /** Deferred work is done at once: its result may be there before the note that it is awaited. */
  isEager?: boolean;
  /** The message has an id, and is sent again, and nothing else is, until its reply is there. */
  hasIds?: boolean;
  /** How often the provider fails at first; a scheduler wakes the thread at the times that its log names. */
  fails?: number;
  /** After how many failed runs in a row the thread is stuck. */
  maxFailures?: number;
  /** Who else comes by after each crash, when the lease is over. */
  besides?: 'a bystander who opens the thread' | 'somebody who deletes the thread, once';
  /** When an agent of another name takes the thread over: the old one goes on trying. */
  adopts?: 'while it waits' | 'after a crash';
  /** Once an answer was taken, the schemas of a new process make another value of an input. */
  remakes?: boolean;
  /** How many calls may run at once. */
  concurrency?: number;
  /** Whether every conversation comes to its end, whatever two crashes do to it. */
  isAlwaysCompleted?: boolean;
}

/** Which way a scenario answers a request. */
export function answerTo(
  { approves = () => true }: Scenario,
  request: UserInputRequestContent,
): UserInputResponseContent {
  if (request.type === 'question-request') {
    const { requestId } = request;
    const answers = [{ key: 'class', optionIds: ['b'] }];
    return { type: 'question-response', requestId, status: 'answered', answers };
  }
  const text = JSON.stringify(request.toolCall?.input);
  return approves(text) ? request.approve() : request.reject('too dear');
}

/** One gated call. */
export const paris = { message: 'Book Paris', calls: [['book', 'Paris']] } as const;
/** Two gated calls. */
export const two = {
  message: 'Book two',
  calls: [
    ['book', 'Paris'],
    ['book', 'Rome'],
  ],
} as const;
/** A step of a call that needs nobody, and one that does. */
export const mixed = {
  message: 'Look and book',
  calls: [
    ['look', 'Oslo'],
    ['book', 'Paris'],
  ],
} as const;

/** Two calls that need nobody, and one that does. */
const three = {
  message: 'Look twice and book',
  calls: [
    ['look', 'Oslo'],
    ['look', 'Bonn'],
    ['book', 'Paris'],
  ],
} as const;

/** The conversations that are crashed at every point. */
export const scenarios: readonly Scenario[] = [
  { name: 'a plain approval', turns: [paris] },
  { name: 'two gated calls, answered together', turns: [two] },
  { name: 'two gated calls, answered one by one', turns: [two], oneByOne: true },
  { name: 'a step that mixes a safe call and a gated one', turns: [mixed] },
  {
    name: 'one call rejected, one approved',
    turns: [two],
    approves: (input) => input.includes('Rome'),
  },
  {
    name: 'a conversation of two steps',
    turns: [paris, { message: 'And Rome', calls: [['book', 'Rome']] }],
  },
  { name: 'answers recorded first, run later', turns: [two], responds: true, oneByOne: true },
  { name: 'two processes that send the same answer', turns: [paris], processes: 2 },
  {
    name: 'two gated calls, settled where need be',
    turns: [two],
    settles: true,
    isAlwaysCompleted: true,
  },
  {
    name: 'a mixed step, settled where need be',
    turns: [mixed],
    settles: true,
    isAlwaysCompleted: true,
  },
  {
    name: 'a value that its schema makes anew after the answer',
    turns: [mixed],
    responds: true,
    remakes: true,
  },
  {
    name: 'calls that run one at a time, settled where need be',
    turns: [three],
    concurrency: 1,
    settles: true,
    isAlwaysCompleted: true,
  },
];
