import type { ToolSet } from 'ai';

/* A symbol, so that no tool has this name. A registered one, so that it works across two copies of the package. */
const presentTools: unique symbol = Symbol.for('holdpoint.present-tools');

/**
 * Tools that may change while their agent works, such as those of an MCP server: `read` returns the present ones, another object after each
 * change. The agent prepares them again then, and an approval of a call whose tool has changed is invalidated and asked for again.
 */
export function changingTools(read: () => ToolSet): ToolSet {
  return Object.defineProperty({}, presentTools, { value: read });
}

/** Reads the present tools of an agent; `undefined` for tools that don't change. */
export function findToolReader(tools: object): (() => ToolSet) | undefined {
  return isChanging(tools) ? tools[presentTools] : undefined;
}

function isChanging(tools: object): tools is { [presentTools]: () => ToolSet } {
  return presentTools in tools;
}
