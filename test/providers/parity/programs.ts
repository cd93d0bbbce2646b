import {
  type generateText,
  type LanguageModelMiddleware,
  type ModelMessage,
  tool,
  type ToolSet,
} from 'ai';
import type { AgentOptions, RunOptions } from 'holdpoint';
import { z } from 'zod';
import type { ParityStep } from './recorded-providers.ts';

/** The options of `generateText`. */
export type Options = Parameters<typeof generateText>[0];
/** Those that an agent or its run has too. */
type Shared = Extract<keyof Options, keyof AgentOptions | keyof RunOptions>;

/** The settings that a program can be held with. Its callbacks read what they get plain and held. */
export interface Settings extends Partial<
  Omit<
    Pick<Options, Shared>,
    'prepareStep' | 'onStepEnd' | 'onEnd' | 'toolApproval' | 'toolsContext'
  >
> {
  toolsContext?: Record<string, Record<string, unknown>>;
  prepareStep?: (step: { stepNumber: number }) => { maxOutputTokens: number } | undefined;
  onStepEnd?: (step: { text: string; finishReason: string }) => void;
  onEnd?: (end: { text: string }) => void;
  toolApproval?: (asked: {
    runtimeContext: unknown;
  }) => 'approved' | 'user-approval' | { type: 'denied'; reason: string };
}

/** A program of the AI SDK that can be run plain and held. */
export interface Program {
  settings: Settings;
  /** What is sent: each turn goes on after the one before. */
  turns: (string | ModelMessage[])[];
  script: ParityStep[];
  /** What the program wraps its model with. */
  middleware?: LanguageModelMiddleware;
}

/** Writes down what a program's tools and callbacks get. */
export type Note = (...what: unknown[]) => void;

/** The tools of every program. */
export function parityTools(note: Note) {
  const noting = (name: string, result: (city: string) => unknown) =>
    tool({
      description: `${name} a flight`,
      inputSchema: z.object({ city: z.string(), seats: z.number().default(1) }),
      async execute(input, { toolCallId }) {
        note(name, input, toolCallId);
        return result(input.city);
      },
    });
  return {
    book: noting('book', (city) => ({ booked: city })),
    look: noting('look', (city) => `A flight to ${city}.`),
  } satisfies ToolSet;
}

/** A call of a tool. */
export function call(id: string, name: string, city: string) {
  return { id, name, input: { city } };
}

/** The program that a row changes. */
function plainProgram(note: Note): Program {
  return {
    settings: { tools: parityTools(note) },
    turns: ['Book Paris'],
    script: [
      {
        reasoning: 'Paris it is.',
        text: 'One moment.',
        calls: [call('call00001', 'book', 'Paris')],
      },
      { text: 'All done.' },
    ],
  };
}

/** What a program has instead of what the plain program has. */
export type Change = (note: Note) => Partial<Program>;

/** The plain program with a change. */
export function applyChange(change: Change, note: Note): Program {
  const [program, { settings, ...own }] = [plainProgram(note), change(note)];
  return { ...program, ...own, settings: { ...program.settings, ...settings } };
}

/** The same program, in which a person is asked about every call. */
export function askAlways(change: Change): Change {
  return (note) => {
    const { settings, ...program } = change(note);
    return { ...program, settings: { ...settings, toolApproval: () => 'user-approval' } };
  };
}

/** The same program without a setting, or with what every program has in its place. */
export function leaveOut(name: string, change: Change): Change {
  const places: Record<string, keyof Program> = {
    model: 'middleware',
    prompt: 'turns',
    messages: 'turns',
  };
  return (note) => {
    const { settings = {}, ...program } = change(note);
    const without = (all: object, left = name): object =>
      Object.fromEntries(Object.entries(all).filter(([each]) => each !== left));
    return { ...without(program, places[name]), settings: without(settings) };
  };
}
