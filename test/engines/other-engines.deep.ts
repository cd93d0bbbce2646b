import { expect, test } from 'vitest';
import { cachedPackage } from '../support/cached-package.ts';
import { EngineProject, filesIn, textOf } from './engine-project.ts';

const page = 'docs/guides/other-engines.md';
const versions = {
  '@temporalio/client': '1.24.0',
  '@temporalio/workflow': '1.24.0',
  inngest: '4.24.0',
  '@trigger.dev/sdk': '4.8.3',
};

test('docs/guides/other-engines.md compiles against the types of Temporal, Inngest and Trigger.dev', async () => {
  const files = filesIn(page);
  await using project = new EngineProject(files, await cachedPackage(versions));
  expect(files.map(({ name }) => name)).toEqual([
    'steps.ts',
    'temporal/activities.ts',
    'temporal/turn.ts',
    'temporal/client.ts',
    'inngest/functions.ts',
    'trigger/thread.ts',
  ]);
  expect(project.typeErrors()).toBe('');
});

test('docs/guides/other-engines.md names the versions whose types were read', () => {
  const shown = textOf(page);
  for (const [name, version] of Object.entries(versions))
    expect(shown).toMatch(new RegExp(`\`${name}\`[^\\n]* ${version.replaceAll('.', '\\.')}`));
});
