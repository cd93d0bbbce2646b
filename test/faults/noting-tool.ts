import { tool } from 'ai';
import { cityInput } from '../support/travel-world.ts';
import type { Effect } from './evidence.ts';

/** A tool whose every call is noted, with how many events its thread had then. */
export function notingTool(
  toolName: string,
  revision: () => Promise<number>,
  note: (effect: Effect) => void,
) {
  return tool({
    description: `${toolName} a flight`,
    inputSchema: cityInput,
    execute: async (input, options) => {
      const { toolCallId } = options;
      const idempotencyKey = String(Reflect.get(options, 'idempotencyKey'));
      note({ toolName, toolCallId, idempotencyKey, input, revision: await revision() });
      return { [toolName]: input.city };
    },
  });
}
