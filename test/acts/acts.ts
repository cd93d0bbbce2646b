import type { ThreadEvent } from 'holdpoint';
import { type ActType, actTerms } from '../../src/content/act.ts';
import type { World } from './scenes.ts';

export type { ActType };

/** Everything that a person does with an agent's threads: each needs a row of the matrix. */
export const actTypes = Object.keys(actTerms).filter((name): name is ActType => name in actTerms);

/** Everything through which people do it. */
export const channels = [
  'agent',
  'ui',
  'inbox',
  'ag-ui',
  'links',
  'terminal',
  'command',
  'sub-agent',
  'gate',
  'remote tool',
] as const;

export type Channel = (typeof channels)[number];

/**
 * Ada and Ben decide about payments, and settle lost calls. Cleo asks the agent for them; Eve may read and write, and decides nothing. Mallory is not
 * let in anywhere. `nobody` is somebody whom the app has not identified, and `server` that of a remote tool.
 */
export type Person = 'ada' | 'ben' | 'cleo' | 'eve' | 'mallory' | 'nobody' | 'server';

/** What an app passes for a person. */
export function principalOf(person: Person): unknown {
  return person === 'nobody' ? { roles: ['finance'] } : person;
}

/** Who decides about payments: for `mayAnswer`. */
export const deciders: readonly unknown[] = ['ada', 'ben'];

/** Does an act as somebody. Resolves with the code with which it is refused, or with `undefined`. */
export type Do = (world: World, by: Person) => Promise<string | undefined>;

/** How people do acts through a channel. */
export interface Driver {
  /** The channel that the log has. */
  channel: string;
  /** Makes the world in which an act is possible. */
  open: (scene: SceneName) => Promise<World>;
  /** The acts that it has. */
  ways: Partial<Record<ActType, Do>>;
  /** Tries an act that it does not have, in the form that it would most likely have. */
  force?: (act: ActType, world: World, by: Person) => Promise<string | undefined>;
}

/** What has happened before the act. */
export type SceneName =
  /** Cleo has asked for a payment, and a person is asked. */
  | 'asked'
  /** The same, and an approval may be remembered. */
  | 'rememberable'
  /** The same, and Ada has approved it. */
  | 'approved'
  /** The same, and she has asked for it to be remembered. */
  | 'remembered'
  /** Two people must approve, and Ada has. */
  | 'voted'
  /** The model has asked something. */
  | 'question'
  /** Cleo has written, and the model has failed. */
  | 'unanswered'
  /** The same, and nobody tries again. */
  | 'stuck'
  /** The process has died in an approved call. */
  | 'lost'
  /** A call waits for its result from elsewhere. */
  | 'deferred'
  /** The model has not answered yet. */
  | 'running'
  /** Eve has stopped the agent before the model's first word. */
  | 'stopped'
  /** Ada has approved, and Eve has stopped the agent before the call began. */
  | 'held';

/** An event as it must be in the log, apart from who did it and where. */
export type Pattern = Record<string, unknown> & { type: ThreadEvent['type'] };

/** Somebody does an act, and others are refused. */
export interface Story {
  by: Person;
  /** Who can't do it, and the code with which they are refused. */
  refuses: Partial<Record<Person, string>>;
  /** Where the story begins, if not where the act's other stories do. */
  scene?: SceneName;
  /** What the log then has, if not what the act's other stories leave. */
  logs?: Pattern;
  /** The channel that the log has, if not that of the driver. */
  channel?: string;
  /** Which log has it, if not both: that of the agent that people talk to, or that of the agent which works for it. */
  where?: 'above' | 'below';
}

/** Why a channel can't carry an act, and the code with which it is refused there, if it is tried. */
export interface Impossible {
  cannot: string;
  code?: string;
  /** Where it is tried, if not where the act's stories begin. */
  scene?: SceneName;
}

export type Matrix = { [ACT in ActType]: { [CHANNEL in Channel]: Story | Impossible } };
