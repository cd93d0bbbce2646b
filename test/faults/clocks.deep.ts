import { describe, expect, test } from 'vitest';
import { crashRun } from './crash-run.ts';
import type { ClockView } from './mortal-world.ts';
import { recoveryScenarios } from './recovery-scenarios.ts';
import { type Scenario, scenarios } from './scenario.ts';
import { hour } from './slow-booking.ts';

const all = [...scenarios, ...recoveryScenarios];
const directions = [
  ['forward', hour],
  ['back', -hour],
] as const;

/** What the runs of a scenario broke, by what was done to them. */
type Broken = Record<string, string[]>;

/** The clocks of all processes jump at some reading. */
function jumpAt(nth: number, byMs: number): ClockView {
  return (time, { reading }) => (reading < nth ? time : time + byMs);
}

/** Every second process has a clock that is off. */
function apart(byMs: number): ClockView {
  return (time, { process }) => (process % 2 === 0 ? time + byMs : time);
}

async function jumpEverywhere(scenario: Scenario, byMs: number): Promise<Broken> {
  const { readings, points } = await crashRun(scenario, []);
  const broken: Broken = {};
  for (let nth = 1; nth <= readings; nth += 1) {
    const { end, faults } = await crashRun(scenario, [], undefined, jumpAt(nth, byMs));
    if (end !== 'completed') faults.push(`It ended ${end}.`);
    if (faults.length > 0) broken[`a jump at reading ${nth}`] = faults;
  }
  for (let point = 1; point <= points; point += 1) {
    const nth = 1 + ((point * 7) % readings);
    const { faults } = await crashRun(scenario, [point], undefined, jumpAt(nth, byMs));
    if (faults.length > 0) broken[`a crash at ${point}, a jump at reading ${nth}`] = faults;
  }
  return broken;
}

describe.each(directions)(
  'clocks that jump an hour %s at any reading break nothing, with or without a crash:',
  (_way, byMs) => {
    test.each(all)('$name', async (scenario) => {
      expect(await jumpEverywhere(scenario, byMs)).toEqual({});
    });
  },
);

describe.each(directions)(
  'every second process has a clock that is an hour %s; whichever dies, nothing breaks:',
  (_way, byMs) => {
    test.each(all)('$name', async (scenario) => {
      const { points } = await crashRun(scenario, []);
      const broken: Broken = {};
      for (let point = 0; point <= points; point += 1) {
        const { faults } = await crashRun(scenario, [point], undefined, apart(byMs));
        if (faults.length > 0) broken[`a crash at ${point}`] = faults;
      }
      expect(broken).toEqual({});
    });
  },
);
