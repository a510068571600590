// Markdown as nodes of the page. Answers hold texts that models and people elsewhere wrote, so nothing here makes markup
// of a text: HTML in it is shown as it stands, images are links, and a link leads to http or https or is no link.

const FENCE = /^ {0,3}(```+|~~~+)/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const RULE = /^ {0,3}([-*_])\s*(\1\s*){2,}$/;
const ITEM = /^ {0,1}([-*+]|\d{1,9}[.)])\s+/;
const QUOTE = /^ {0,3}> ?/;
const COLUMNS = /^ {0,3}\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const INLINE = new RegExp(
  [
    String.raw`(?<tick>\`+)(?<code>.+?)\k<tick>(?!\`)`,
    String.raw`\\(?<escaped>[!-/:-@[-\`{-~])`,
    String.raw`!?\[(?<label>[^\]]*)\]\(\s*<?(?<target>[^\s()<>]*)>?(?:\s+"[^"]*")?\s*\)`,
    String.raw`\*\*(?<strong>\S|\S.*?\S)\*\*`,
    String.raw`\*(?<emphasis>\S|\S.*?\S)\*`,
    String.raw`(?<!\w)_(?<underlined>\S|\S.*?\S)_(?!\w)`,
    String.raw`~~(?<struck>\S|\S.*?\S)~~`,
    String.raw`(?<address>https?://[^\s<>"'\`|]*[^\s<>"'\`|.,;:!?)\]])`,
  ].join('|'),
  's',
);
// Deeper than this, a text is shown without its structure.
const MOST_LEVELS = 16;

export function markdown(text) {
  return blocks(text.replaceAll('\r\n', '\n').split('\n'), 0);
}

function element(name, ...children) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

function blocks(lines, level) {
  const shown = document.createDocumentFragment();
  if (level > MOST_LEVELS) {
    shown.append(lines.join('\n'));
    return shown;
  }
  let at = 0;
  // The lines from here on for as long as they are of one kind.
  const take = (isOne) => {
    const from = at;
    while (at < lines.length && isOne(lines[at], at - from)) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at];
    const heading = HEADING.exec(line);
    if (!line.trim()) {
      at += 1;
    } else if (FENCE.test(line)) {
      const [, fence] = FENCE.exec(line);
      at += 1;
      const code = take((next) => !next.trim().startsWith(fence));
      at += 1;
      shown.append(element('pre', element('code', code.join('\n'))));
    } else if (heading) {
      at += 1;
      shown.append(element(`h${heading[1].length}`, inline(heading[2], level)));
    } else if (RULE.test(line)) {
      at += 1;
      shown.append(element('hr'));
    } else if (QUOTE.test(line)) {
      const quoted = take((next) => QUOTE.test(next)).map((next) => next.replace(QUOTE, ''));
      shown.append(element('blockquote', blocks(quoted, level + 1)));
    } else if (ITEM.test(line)) {
      const isNumbered = numbered(line);
      const isOfList = (next) => !next.trim() || /^ {2,}/.test(next) || (ITEM.test(next) && numbered(next) === isNumbered);
      shown.append(list(take(isOfList), level));
    } else if (line.includes('|') && COLUMNS.test(lines[at + 1] ?? '')) {
      shown.append(table(take((next) => next.includes('|')), level));
    } else {
      const words = take((next, index) => index === 0 || (next.trim() && !begins(next)));
      shown.append(element('p', inline(words.join('\n'), level)));
    }
  }
  return shown;
}

const begins = (line) => [FENCE, HEADING, RULE, QUOTE, ITEM].some((kind) => kind.test(line));

const numbered = (line) => /\d/.test(ITEM.exec(line)[1]);

function list(lines, level) {
  const made = element(numbered(lines[0]) ? 'ol' : 'ul');
  if (made.localName === 'ol') made.start = Number.parseInt(lines[0], 10);
  const items = [];
  for (const line of lines) {
    const item = ITEM.exec(line);
    if (item) items.push([line.slice(item[0].length)]);
    else items.at(-1).push(line.replace(/^ {2,4}/, ''));
  }
  made.append(...items.map((item) => {
    // An item of one line is its words, without a paragraph around them.
    const words = item.filter((line) => line.trim());
    return element('li', words.length === 1 ? inline(words[0], level + 1) : blocks(item, level + 1));
  }));
  return made;
}

function table([head, , ...rows], level) {
  const row = (line, name) => {
    const cells = line.trim().replace(/^\||\|$/g, '').split(/(?<!\\)\|/);
    return element('tr', ...cells.map((cell) => element(name, inline(cell.trim().replaceAll('\\|', '|'), level))));
  };
  return element('table', element('thead', row(head, 'th')), element('tbody', ...rows.map((line) => row(line, 'td'))));
}

function inline(text, level) {
  const shown = document.createDocumentFragment();
  if (level > MOST_LEVELS) {
    shown.append(text);
    return shown;
  }
  for (let rest = text; rest; ) {
    const found = INLINE.exec(rest);
    if (!found) {
      shown.append(rest);
      break;
    }
    shown.append(rest.slice(0, found.index), span(found, level + 1));
    rest = rest.slice(found.index + found[0].length);
  }
  return shown;
}

function span({ 0: whole, groups }, level) {
  if (groups.code !== undefined) return element('code', groups.code.trim());
  if (groups.escaped !== undefined) return groups.escaped;
  if (groups.strong !== undefined) return element('strong', inline(groups.strong, level));
  const emphasis = groups.emphasis ?? groups.underlined;
  if (emphasis !== undefined) return element('em', inline(emphasis, level));
  if (groups.struck !== undefined) return element('del', inline(groups.struck, level));
  const address = groups.address ?? groups.target;
  return link(address, groups.label ? inline(groups.label, level) : address) ?? whole;
}

// A link that leads away from the page, to http or https; nothing for any other address.
function link(address, content) {
  const url = URL.parse?.(address) ?? parsed(address);
  if (!['http:', 'https:'].includes(url?.protocol)) return null;
  const made = element('a', content);
  made.href = url.href;
  made.title = url.href;
  made.target = '_blank';
  made.rel = 'noopener noreferrer nofollow';
  return made;
}

function parsed(address) {
  try {
    return new URL(address);
  } catch {
    return null;
  }
}
