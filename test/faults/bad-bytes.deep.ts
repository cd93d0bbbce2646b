import { type Agent, createAgent } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { rechainedJson } from '../support/chained.ts';
import { bombs } from './bombs.ts';
import { type Damage, flips, mutations, truncations } from './damaged-threads.ts';
import { tryDamaged, tryRestoring } from './damage-trial.ts';
import { everyNth, FaultCount, withoutKnown } from './fault-count.ts';
import { goldenThread } from './golden-thread.ts';
import { statelessModel } from './stateless-model.ts';
import { StoredRows } from './stored-rows.ts';

const { text, threadId, sound } = goldenThread();

async function restoreAll(damages: readonly Damage[]) {
  const count = new FaultCount();
  const opened: Damage[] = [];
  for (const damage of damages) {
    const trial = await tryRestoring(damage.text);
    count.add(damage.what, trial);
    if (trial.outcome === 'opened') opened.push(damage);
  }
  return { count, opened };
}

const jsonDamages: [what: string, damages: Damage[]][] = [
  ['cut off at every byte', [...truncations(text)]],
  ['a bit flipped in every byte', [...flips(text)]],
  ['one value wrong', [...mutations(text)]],
  ['bombs', bombs(text)],
];

describe('the JSON form of a thread, damaged, is refused with a code, unless it says the same:', () => {
  test.each(jsonDamages)('%s', async (what, damages) => {
    const { count, opened } = await restoreAll(damages);
    console.log(`${what}: ${damages.length} threads,`, count.outcomes);
    expect(withoutKnown(count)).toEqual([]);
    for (const damage of opened) expect(await reopened(damage)).toBe(text);
  });
});

async function reopened(damage: Damage): Promise<string> {
  const model = statelessModel([], async (_prompt, answer) => answer());
  return JSON.stringify(await createAgent({ model }).restore(damage.text));
}

describe('the JSON form of a thread, edited by a forger who made all hashes anew, is refused with a code or behaves:', () => {
  test.each(jsonDamages.slice(1))('%s', async (what, damages) => {
    const forged = damages.map((damage) => ({ ...damage, text: rechainedJson(damage.text) }));
    const { count } = await restoreAll(forged);
    console.log(`${what}: ${forged.length} threads,`, count.outcomes);
    expect(withoutKnown(count)).toEqual([]);
  });
});

describe('the rows of a SQLite file, damaged, are refused with a code or behave:', () => {
  test.each<[string, (row: string) => Damage[]]>([
    ['cut off', (row) => everyNth([...truncations(row)], 5)],
    ['a bit flipped', (row) => everyNth([...flips(row)], 5)],
    ['one value wrong', (row) => everyNth([...mutations(row)], 3)],
    ['bombs', (row) => bombs(row)],
  ])('%s', async (what, damagesOf) => {
    using rows = await StoredRows.of(text);
    const count = new FaultCount();
    for (const [revision, row] of rows.texts) {
      for (const { what: damage, text: damaged } of damagesOf(row)) {
        if (damaged === row) continue;
        rows.write(revision, damaged);
        const { store } = rows;
        const open = async (agent: Agent) => agent.thread(threadId);
        count.add(`row ${revision}: ${damage}`, await tryDamaged({ store, threadId, sound, open }));
        rows.undo();
      }
    }
    console.log(`${what}: ${count.total} rows,`, count.outcomes);
    expect(withoutKnown(count)).toEqual([]);
  });
});
