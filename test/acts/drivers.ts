import type { Channel, Driver } from './acts.ts';
import { agentDriver, subAgentDriver } from './agent-driver.ts';
import { commandDriver } from './command-driver.ts';
import { gateDriver } from './gate-driver.ts';
import { agUiDriver, uiDriver } from './http-drivers.ts';
import { inboxDriver } from './inbox-driver.ts';
import { linksDriver } from './links-driver.ts';
import { rapDriver } from './rap-driver.ts';
import { terminalDriver } from './terminal-driver.ts';

/** How people do acts through each channel. */
export const drivers: { [CHANNEL in Channel]: Driver } = {
  agent: agentDriver,
  ui: uiDriver,
  inbox: inboxDriver,
  'ag-ui': agUiDriver,
  links: linksDriver,
  terminal: terminalDriver,
  command: commandDriver,
  'sub-agent': subAgentDriver,
  gate: gateDriver,
  'remote tool': rapDriver,
};
