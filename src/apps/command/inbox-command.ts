import { z } from 'zod';
import { makeRandomId } from '../../content/crypto.ts';
import {
  channel,
  parsePrincipal,
  readAnsweringRules,
  refuseNobody,
  rulesOption,
} from './answering-agent.ts';
import { addStoreOptions, storeFields, withStore } from './command-store.ts';
import { guardLocalPage, type LocalPage } from './local-guard.ts';
import { parsePort, serveLocally } from './local-server.ts';
import { planCommand, toAsciiJson } from './run-command.ts';

/** `holdpoint inbox` */
export const addInboxCommand = planCommand({
  name: 'inbox',
  summary: 'serve the inbox as a page on this machine, for one person',
  description:
    'Serve the inbox as a page on 127.0.0.1, for the person --as, until Ctrl+C. It prints the address: whoever opens it first has the page, and it counts once. Answers are recorded; a worker or your app runs the calls.',
  addOptions: (command) =>
    addStoreOptions(command)
      .requiredOption(
        '--as <principal>',
        'whose name the answers carry, as in "answer"',
        parsePrincipal,
      )
      .addOption(rulesOption)
      .option('--port <port>', 'the port; default: one that is free', parsePort, 0),
  statuses: [
    'ended by Ctrl+C',
    'not used',
    'the arguments are wrong, the port is taken, or the store or the rules could not be read',
  ],
  schema: z.object({
    ...storeFields,
    as: z.json(),
    rules: z.string().optional(),
    port: z.number(),
    json: z.boolean().optional(),
  }),
  async run({ as: principal, rules: rulesFile, port, json, ...named }, world) {
    const { createInboxHandler } = await import('../inbox.ts');
    const answering = await readAnsweringRules(rulesFile);
    refuseNobody(principal, answering);
    const { mayAnswer, principalId } = answering;
    return withStore(named, world, async (store) => {
      /* Not a name that the pages of other ports know: see `guardLocalPage`. */
      const path = `/inbox-${makeRandomId()}`;
      const handle = createInboxHandler({
        store,
        path,
        mayAnswer,
        principalId,
        authorize: () => ({ principal, channel }),
        /* The person who runs the command can read and write the store. */
        maySee: () => true,
        maySettle: () => true,
      });
      let page: LocalPage | undefined;
      const server = await serveLocally(port, (host) => {
        page = guardLocalPage({ host, path, handle, advice });
        return page.serve;
      });
      const url = (await page?.makeUrl()) ?? '';
      await world.write(json === true ? `${toAsciiJson({ url })}\n` : `${url}\n`);
      await world.untilEnded();
      await server.close();
      return { status: 0 };
    });
  },
});

const advice = 'Run "npx holdpoint inbox" again, and open the address that it prints.';
