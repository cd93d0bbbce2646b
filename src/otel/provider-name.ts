/* Prefixes of provider names in the AI SDK, longer ones first, and the names of the conventions; the same as in `@ai-sdk/otel`, whose spans may be in the trace. */
const wellKnown: readonly (readonly [string, string])[] = [
  ['google.vertex', 'gcp.vertex_ai'],
  ['google-vertex', 'gcp.vertex_ai'],
  ['google', 'gcp.gemini'],
  ['vertex', 'gcp.vertex_ai'],
  ['amazon-bedrock', 'aws.bedrock'],
  ['bedrock', 'aws.bedrock'],
  ['azure', 'azure.ai.inference'],
  ['mistral', 'mistral_ai'],
  ['moonshotai', 'moonshot_ai'],
  ['xai', 'x_ai'],
];

/** The `gen_ai.provider.name` of a provider of the AI SDK, such as `openai.responses`. */
export function providerName(provider: string): string {
  const known = wellKnown.find(([start]) => provider === start || provider.startsWith(`${start}.`));
  return known?.[1] ?? provider.split('.')[0] ?? provider;
}
