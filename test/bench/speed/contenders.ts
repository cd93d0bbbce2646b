import { appendPast, pastEntries, pastEvents, pastMessages } from '../past-conversation.ts';
import { pieceCount, readOnce, streamedContenders } from '../run-streams.ts';
import { rawInsertSampler } from '../run-workload.ts';
import type { TemporaryFiles } from '../temporary-files.ts';
import { aiCompetitor } from './ai-competitor.ts';
import type { Competitor } from './competitor.ts';
import { ownCompetitor } from './own-competitor.ts';
import { askForCalls, callUnasked } from './speed-task.ts';

const secret = 'a secret of thirty-two characters';

/** What competes, each in processes of its own: the AI SDK's own, holdpoint's, and what a disk needs. */
export const contenders = {
  'ai cold': () => aiCompetitor({ task: askForCalls(1) }),
  'ai warm': () => aiCompetitor({ task: askForCalls(1), warm: true }),
  'ai warm, telemetry unset': () =>
    aiCompetitor({ task: askForCalls(1), warm: true, leavesTelemetry: true }),
  'ai signed': () => aiCompetitor({ task: askForCalls(1), secret }),
  'ai turn': () => aiCompetitor({ task: callUnasked() }),
  'ai 10 calls': () => aiCompetitor({ task: askForCalls(10) }),
  'ai 100 calls': () => aiCompetitor({ task: askForCalls(100) }),
  'ai 1,000 messages': () => aiWithPast(1_000),
  'ai 10,000 messages': () => aiWithPast(10_000),
  'ai stream': () => stream(0),
  'own cold': () => ownCompetitor({ task: askForCalls(1) }),
  'own warm': () => ownCompetitor({ task: askForCalls(1), keeps: 'agent' }),
  'own warm, telemetry unset': () =>
    ownCompetitor({ task: askForCalls(1), keeps: 'agent', leavesTelemetry: true }),
  'own turn': () => ownCompetitor({ task: callUnasked() }),
  'own 10 calls': () => ownCompetitor({ task: askForCalls(10) }),
  'own 100 calls': () => ownCompetitor({ task: askForCalls(100) }),
  'own 1,000 messages, kept': () => ownWithPast(1_000, 'thread'),
  'own 1,000 messages, anew': () => ownWithPast(1_000, 'nothing'),
  'own 10,000 messages, kept': () => ownWithPast(10_000, 'thread'),
  'own 10,000 messages, anew': () => ownWithPast(10_000, 'nothing'),
  'own stream': () => stream(1),
  'own SQLite': (files) => {
    const file = files.sharedFile();
    return ownCompetitor({ task: askForCalls(1), stores: () => file });
  },
  'raw insert': (files) => {
    const raw = rawInsertSampler(files.rawInsert());
    return { prepare: async () => async () => [raw.once()] };
  },
} as const satisfies Record<string, (files: TemporaryFiles) => Competitor>;

/** The name of a contender. */
export type ContenderName = keyof typeof contenders;

/** Whether this is the name of a contender. */
export function isContenderName(name: string): name is ContenderName {
  return Object.hasOwn(contenders, name);
}

function aiWithPast(messages: number): Competitor {
  return aiCompetitor({ task: askForCalls(1), past: pastMessages(messages) });
}

function ownWithPast(messages: number, keeps: 'nothing' | 'thread'): Competitor {
  const past = pastEntries('thread', pastEvents(pastMessages(messages)));
  return ownCompetitor({
    task: askForCalls(1),
    appendPast: (store) => appendPast(store, 'thread', past),
    keeps,
  });
}

/** A streamed answer that asks at its end; agent, model and tools are kept, each stream is a thread of its own. */
function stream(index: number): Competitor {
  const contender = streamedContenders(() => pieceCount)[index];
  if (contender === undefined) throw new Error(`There is no stream ${index}.`);
  return {
    prepare: async () => async () => {
      const { total, first } = await readOnce(contender, pieceCount);
      return [total, first];
    },
  };
}
