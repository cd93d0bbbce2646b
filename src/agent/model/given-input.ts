import { asSchema, jsonSchema, type ToolSet } from 'ai';
import { copyPlain } from '../../json/json-value.ts';

/** The inputs that the schemas of a step's tools were given, by the values that they made: the AI SDK passes on only the latter. */
export class GivenInputs {
  readonly #given = new Map<unknown, unknown>();

  /** Wraps the tools so that their schemas' inputs are recorded. A schema may change its input, so it gets a copy. */
  noteIn(tools: ToolSet): ToolSet {
    const noting = new Map(Object.entries(tools));
    for (const [name, tool] of noting) {
      if (tool.type === 'provider' && tool.isProviderExecuted) continue;
      const schema = asSchema(tool.inputSchema);
      const { validate } = schema;
      if (validate === undefined) continue;
      const json: unknown = schema.jsonSchema;
      const inputSchema = jsonSchema(json, {
        validate: async (given) => {
          const parsed = await validate(copyPlain(given));
          if (parsed.success) this.#given.set(parsed.value, given);
          return parsed;
        },
      });
      noting.set(name, Object.assign({}, tool, { inputSchema }));
    }
    return Object.fromEntries(noting);
  }

  /** Finds the input from which a schema made this value; the value itself, if no schema made it. */
  of(made: unknown): unknown {
    return this.#given.has(made) ? this.#given.get(made) : made;
  }
}
