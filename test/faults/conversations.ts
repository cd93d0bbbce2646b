import * as fc from 'fast-check';
import { expect } from 'vitest';
import { audit } from './auditor.ts';
import { turnsOfCalls } from './interleaving.ts';
import { holdMs, ScheduledWorld } from './scheduled-world.ts';
import { threadCommands } from './thread-commands.ts';
import { ThreadOracle } from './thread-oracle.ts';

const maxCommands = 40;

/** That a thread stands where an oracle says, after any commands to it; and that the auditor finds nothing. */
export function conversations() {
  return fc.asyncProperty(
    turnsOfCalls,
    fc.commands(threadCommands, { maxCommands, size: 'max' }),
    async (some, commands) => {
      /* A call or more for each message that there may be. */
      const turns = Array.from({ length: maxCommands }, () => some).flat();
      const world = new ScheduledWorld({ turns });
      const process = await world.start('the first');
      const model = new ThreadOracle(turns, holdMs);
      await fc.asyncModelRun(() => ({ model, real: { world, process } }), commands);
      expect((await world.evidence()).flatMap(audit)).toEqual([]);
    },
  );
}
