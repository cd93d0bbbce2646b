import { isDeepStrictEqual } from 'node:util';
import { createAgent } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { pagesAt } from '../docs/markdown-page.ts';
import { readSettingRows } from '../docs/settings-rows.ts';
import { askAlways, type Change, leaveOut } from './parity/programs.ts';
import { type RecordedProvider, recordedProviders } from './parity/recorded-providers.ts';
import { assistantParts, modelParts, stepParts, toolParts, userParts } from './parity/parts.ts';
import { settingRows } from './parity/settings.ts';
import {
  observe,
  runAgent,
  runBehindHoldPoint,
  runPlain,
  runWith,
  type Way,
} from './parity/ways.ts';
import { pickCases } from '../support/sampling.ts';

const documented = readSettingRows('docs/settings.md');
const docs = pagesAt('docs/*.md', 'docs/guides/*.md')
  .map(({ text }) => text)
  .join('\n');

const settings = Object.entries(settingRows);
const heldSettings = settings.flatMap(([name, row]) => (row === 'no' ? [] : [{ name, ...row }]));
const absent = settings.flatMap(([name, row]) => (row === 'no' ? [name] : []));

const parts = Object.entries({
  'a user’s': userParts,
  'an assistant’s': assistantParts,
  'a tool’s': toolParts,
  'a model’s': modelParts,
  'a step’s': stepParts,
}).flatMap(([whose, rows]) => Object.entries(rows).map(([type, row]) => ({ whose, type, ...row })));

/** The ways to hold a program with a setting: those that docs/settings.md names too. */
function waysFor(name: string): [string, Way][] {
  const row = documented.find((each) => each.name === name);
  const places = (['run', 'step'] as const).filter((each) => row?.where.split(', ').includes(each));
  return places.map((place) => [place, runWith(name, place)]);
}

interface Compared {
  provider: RecordedProvider;
  program: Change;
  differs?: { [way: string]: string } | undefined;
  others?: [string, Way][];
  /** Whether the program is compared where a person is asked, too. */
  isAsked: boolean;
}

/** Compares what a program does plain and held, also where a person is asked about each call and approves. */
async function expectParity({ provider, program, differs = {}, others = [], isAsked }: Compared) {
  const ways: [string, Way][] = [
    ['an agent', runAgent()],
    ['behind holdPoint', runBehindHoldPoint],
  ];
  const rounds = [
    { name: '', change: program, ways: [...ways, ...others] },
    { name: ', asked', change: askAlways(program), ways },
  ];
  for (const round of isAsked ? rounds : rounds.slice(0, 1)) {
    const plain = await observe(provider, runPlain, round.change);
    for (const [name, way] of round.ways) {
      const title = name + round.name;
      const held = { title, ...(await observe(provider, way, round.change)) };
      const same = { title, ...plain };
      /* Beside a documented difference, the right value is another one. */
      const isRight = !Object.hasOwn(differs, title);
      expect({ title, differs: !isRight && !isDeepStrictEqual(held, same) }).toEqual({
        title,
        differs: !isRight,
      });
      expect(isRight ? held : same).toEqual(same);
    }
  }
}

describe.each(pickCases(recordedProviders))('with $name, plain and held', (provider) => {
  test.each(pickCases(heldSettings, 3))('the setting $name', async ({ name, program, differs }) => {
    /* What is asked about, and when, is the same with each provider. */
    const isAsked = provider === recordedProviders[0];
    await expectParity({ provider, program, differs, others: waysFor(name), isAsked });
  });

  test.each(pickCases(parts, 3))('$whose part $type', async ({ program, differs }) => {
    await expectParity({ provider, program, differs, isAsked: true });
  });
});

/* A row without this says nothing. */
async function expectDifference(program: Change, without: Change): Promise<void> {
  const differences = recordedProviders.map(async (provider) => {
    const [one, other] = [program, without].map((change) => observe(provider, runPlain, change));
    return !isDeepStrictEqual(await one, await other);
  });
  expect(await Promise.all(differences)).toContain(true);
}

test.each(heldSettings.filter(({ isNeeded }) => isNeeded !== true))(
  'a program with the setting $name does something else than without',
  async ({ name, program }) => expectDifference(program, leaveOut(name, program)),
);

test.each(pickCases(parts, 3))(
  'a program with $whose part $type does something else than without',
  async ({ program, without }) => expectDifference(program, without),
);

test.each(pickCases(absent, 3))(
  '%s is refused by its name, and the docs say what to do instead',
  (name) => {
    expect(() => createAgent(Object.assign({ model: 'none' }, { [name]: 'set' }))).toThrow(name);
    const row = documented.find((each) => each.name === name);
    expect(row).toMatchObject({ where: 'no', second: expect.stringMatching(/\w/) });
  },
);

test('the docs tell each difference', () => {
  const told = [...heldSettings, ...parts].flatMap(({ differs = {} }) => Object.values(differs));
  for (const reason of told) expect(docs).toContain(reason);
});
