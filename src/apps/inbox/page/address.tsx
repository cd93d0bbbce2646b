import { inertLine } from '../../../content/inert-text.ts';
import { Tag } from './literal.tsx';
import { readAddress } from './web-address.ts';

/** A link with its host set apart. Only a click opens it, and its target gets no referrer. */
export function Address({ url }: { url: string }) {
  const { href, before, host, after, unicodeHost } = readAddress(url, document.baseURI);
  const parts = (
    <>
      {inertLine(before)}
      <b>{inertLine(host)}</b>
      {inertLine(after)}
    </>
  );
  if (href === undefined)
    return (
      <span className="address">
        {parts} <Tag>can’t be opened</Tag>
      </span>
    );
  return (
    <span className="address">
      <a href={href} target="_blank" rel="noreferrer noopener">
        {parts}
      </a>
      {unicodeHost !== undefined && (
        <span className="more">
          its host in other letters: <b>{inertLine(unicodeHost)}</b>
        </span>
      )}
      {href !== url && URL.canParse(url) && <span className="more">given as {inertLine(url)}</span>}
    </span>
  );
}
