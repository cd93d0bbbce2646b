/* First, as it has ids counted that others make at random. */
import { type FamilyPlan, playFamily } from './play-family.ts';

import { describe, expect, test } from 'vitest';
import { fatesOfAll } from './claim-crashes.ts';
import { makeMemoryGround } from './claim-grounds.ts';

type Leavings = Omit<FamilyPlan, 'fate'>;

const both = [{ rank: 'manager' }, { rank: 'buyer' }] as const;

/** Who goes at a point, and who stays. */
const leavers: readonly [who: string, at: (point: number) => Leavings][] = [
  ['a worker of the agent dies', (diesAt) => ({ workers: [{ rank: 'manager', diesAt }, ...both] })],
  [
    'one of two workers of the agent dies, and the sub-agent has none',
    (diesAt) => ({ workers: [{ rank: 'manager', diesAt }, { rank: 'manager' }] }),
  ],
  [
    'a worker of the sub-agent dies',
    (diesAt) => ({ workers: [{ rank: 'buyer', diesAt }, ...both] }),
  ],
  [
    'a worker of the agent stops',
    (stopsAt) => ({ workers: [{ rank: 'manager', stopsAt }, ...both] }),
  ],
  [
    'a worker of the sub-agent stops',
    (stopsAt) => ({ workers: [{ rank: 'buyer', stopsAt }, ...both] }),
  ],
  ['who answers dies', (answer) => ({ workers: both, answer })],
];

describe.each(Object.entries(fatesOfAll))('where notices %s, and', (_fate, fate) => {
  test.each(leavers)(
    '%s, at whichever point, a sub-agent pays once, and no thread of either is left behind',
    async (who, at) => {
      const seen: Record<string, number> = {};
      for (let point = 1; ; point += 1) {
        const leavings = at(point);
        const { gone, faults, statuses, payments } = await playFamily(
          { ...leavings, fate },
          makeMemoryGround,
        );
        if (gone === 0) break;
        expect({ point, faults }).toEqual({ point, faults: [] });
        const end = `${statuses.join(', ')}, ${payments} paid`;
        seen[end] = (seen[end] ?? 0) + 1;
      }
      console.log(who, seen);
      expect(seen['buyer idle, manager idle, 1 paid']).toBeGreaterThan(0);
    },
  );
});

test('nor where a worker of each dies, each at whichever point', async () => {
  let plays = 0;
  for (let first = 1; ; first += 1) {
    for (let second = 1; ; second += 1) {
      const workers = [
        { rank: 'manager', diesAt: first },
        { rank: 'buyer', diesAt: second },
        ...both,
      ] as const;
      const { gone, faults } = await playFamily({ workers, fate: [1] }, makeMemoryGround);
      expect({ first, second, faults }).toEqual({ first, second, faults: [] });
      plays += 1;
      if (gone === 2) continue;
      if (second === 1) return console.log(`${plays} pairs of deaths`);
      break;
    }
  }
});
