import { describe, expect, test } from 'vitest';
import { worldOf } from './world.ts';

const choice = {
  prompt: 'Allow writing to the original directory?',
  choices: ['Yes for session', 'Yes once', 'No'],
  default: 2,
};

describe('the message that asks', () => {
  test('S0-01 S0-04 a tool that needs a word asks at the callback URL, and gives no result before', async () => {
    const { invoke, runtime, selects } = await worldOf(async ({ askUser }) => {
      const { label } = await askUser(choice);
      return label;
    });
    await invoke();
    const asked = await runtime.next();
    expect(asked.path).toBe('/callback?capability=s3cret');
    expect(runtime.types).toEqual(['user_choice']);
    await selects(asked, { selected: 1 });
    expect((await runtime.next()).json).toMatchObject({ type: 'tool_result', text: 'Yes once' });
    expect(runtime.types).toEqual(['user_choice', 'tool_result']);
  });

  test.each([
    ['a permission', ['Yes for session', 'Yes once', 'No']],
    ['a target', ['Staging', 'Production', 'Nowhere']],
    ['a confirmation', ['Delete 3 files', 'Keep them']],
  ])('S0-02 %s can be asked for', async (_, choices) => {
    const last = choices.length - 1;
    const { invoke, runtime, selects } = await worldOf(({ askUser }) =>
      askUser({ prompt: 'Which?', choices, default: last }),
    );
    await invoke();
    const asked = await runtime.next();
    expect(asked.json).toMatchObject({ choices, default: last });
    await selects(asked, { selected: last });
    const { text } = (await runtime.next()).json;
    expect(JSON.parse(text)).toEqual({ selected: last, label: choices[last] });
  });

  test('S0-05 S0-06 S0-07 S0-08 S0-09 S0-10 S0-11 S0-14 S0-15 S0-17 S0-20 it is a JSON post with exactly the fields of the protocol', async () => {
    const { invoke, runtime } = await worldOf(({ askUser }) => askUser(choice));
    await invoke();
    const { json, method, headers } = await runtime.next();
    expect(method).toBe('POST');
    expect(headers['content-type']).toBe('application/json');
    expect(json).toStrictEqual({
      type: 'user_choice',
      group_id: 'thread_xyz',
      id: 'call_abc123',
      ...choice,
      response_url: expect.any(String),
    });
  });

  test.each([
    ['absent', {}, undefined],
    ['null', { call_id: null }, undefined],
    ['a string', { call_id: 'second' }, 'second'],
  ])('S0-12 S0-13 a call_id that is %s is echoed as it was', async (_, given, echoed) => {
    const { invoke, runtime, selects } = await worldOf(({ askUser }) => askUser(choice));
    await invoke(given);
    const asked = await runtime.next();
    await selects(asked, { selected: 2 });
    const result = await runtime.next();
    expect([asked.json.call_id, result.json.call_id]).toEqual([echoed, echoed]);
  });

  test.each([1, 500])('S0-16 %i choices are asked as they are', async (count) => {
    const choices = Array.from({ length: count }, (_, index) => `Choice ${index}`);
    const { invoke, runtime, selects } = await worldOf(({ askUser }) =>
      askUser({ prompt: 'Which?', choices, default: 0 }),
    );
    await invoke();
    const asked = await runtime.next();
    expect(asked.json.choices).toEqual(choices);
    await selects(asked, { selected: count - 1 });
    expect((await runtime.next()).json.text).toContain(`Choice ${count - 1}`);
  });

  test.each([
    ['S0-16 no choice', { choices: [] }],
    ['S0-19 a default of -1', { default: -1 }],
    ['S0-19 a default past the end', { default: 3 }],
    ['S0-19 a default of 1.5', { default: 1.5 }],
    ['S0-19 a default of NaN', { default: Number.NaN }],
    ['S0-19 a default of "2"', { default: '2' }],
    ['S0-14 an empty prompt', { prompt: ' ' }],
    ['S0-56 an empty label', { choices: ['Yes', '', 'No'] }],
    ['S0-56 a blank label', { choices: ['Yes', '\t', 'No'] }],
    ['S0-56 a label with a control character', { choices: ['Yes', 'N\u001b[2Ko', 'No'] }],
    ['S0-56 a label of two lines', { choices: ['Yes', 'May\nbe', 'No'] }],
    ['S0-57 a label written backwards', { choices: ['Yes', '\u202eoN', 'No'] }],
    ['S0-57 a label with an invisible character', { choices: ['Yes', 'Yes\u200b', 'No'] }],
    ['S0-57 two labels that look the same', { choices: ['Yes', 'No ', 'No'] }],
    ['S0-57 two of other spaces', { choices: ['Yes', 'Not  now', 'Not now'] }],
    ['S0-57 two of other letters', { choices: ['Yes', 'caf\u00e9', 'cafe\u0301'] }],
    ['S0-57 two that differ in a joiner', { choices: ['Yes', '👩‍👧', '👩👧'] }],
    ['S0-57 an emoji joined by a backslash', { choices: ['Yes', '👩\\\u200D👧', 'No'] }],
    ['S0-56 a label that is no text', { choices: ['Yes', 7, 'No'] }],
  ])('%s is a TypeError at the call, and nobody is asked', async (_, wrong: object) => {
    const thrown: unknown[] = [];
    const { invoke, runtime } = await worldOf(({ askUser }) => {
      try {
        void askUser(Object.assign({ ...choice }, wrong));
      } catch (error) {
        thrown.push(error);
        throw error;
      }
    });
    await invoke();
    expect((await runtime.next()).json.type).toBe('tool_result');
    expect(thrown).toEqual([expect.any(TypeError)]);
    expect(runtime.types).toEqual(['tool_result']);
  });

  test('S0-57 what was asked is what is chosen from, though the tool changes its list meanwhile', async () => {
    const choices = ['Keep', 'Delete'];
    const { invoke, runtime, selects } = await worldOf(({ askUser }) => {
      const selection = askUser({ prompt: 'Which?', choices, default: 0 });
      choices.reverse();
      return selection;
    });
    await invoke();
    const asked = await runtime.next();
    expect(asked.json.choices).toEqual(['Keep', 'Delete']);
    await selects(asked, { selected: 0 });
    expect((await runtime.next()).json.text).toBe('{"selected":0,"label":"Keep"}');
  });

  test('S0-56 a label may have a backslash, letters of any script, and emoji', async () => {
    const choices = ['C:\\temp', '削除する', 'Ja, löschen', 'می‌خواهم', '👍🏽 🏳️‍🌈 1️⃣'];
    const { invoke, runtime } = await worldOf(({ askUser }) =>
      askUser({ prompt: 'Which?', choices, default: 0 }),
    );
    await invoke();
    expect((await runtime.next()).json.choices).toEqual(choices);
  });

  test('S0-43 S0-53 selections are wanted on this machine by default, at the port and path of the invocation', async () => {
    const { invoke, runtime, selects } = await worldOf(({ askUser }) => askUser(choice));
    await invoke();
    const asked = await runtime.next();
    expect(asked.json.response_url).toMatch(
      /^http:\/\/localhost:8080\/tools\/user_choice_response\/[\w-]{22,}$/,
    );
    expect((await selects(asked, { selected: 0 })).status).toBe(200);
    expect((await runtime.next()).json.text).toContain('Yes for session');
  });

  test('S0-43 selections are wanted where baseUrl says', async () => {
    const { invoke, runtime } = await worldOf(({ askUser }) => askUser(choice), {
      baseUrl: 'https://tools.example.com/rap/',
    });
    await invoke();
    expect((await runtime.next()).json.response_url).toMatch(
      /^https:\/\/tools\.example\.com\/rap\/user_choice_response\/[\w-]{22,}$/,
    );
  });

  test('Z0-4 every prompt has a URL of its own', async () => {
    const { invoke, runtime, selects } = await worldOf(async ({ askUser }) => {
      await askUser(choice);
      await askUser(choice);
    });
    await invoke();
    const first = await runtime.next();
    await selects(first, { selected: 0 });
    const second = await runtime.next();
    expect(second.json.response_url).not.toBe(first.json.response_url);
  });
});
