/** Parses XML strictly enough to check our own plots: matching tags, quoted attributes, known entities. */

export interface Element {
	readonly name: string
	/** Its attributes, as written. */
	readonly text: string
}

const TOKEN =
	/<(\/?)([a-z][\w:-]*)((?:\s+[\w:-]+="(?:[^<&"]|&(?:amp|lt|gt|quot);)*")*)\s*(\/?)>|(?:[^<&]|&(?:amp|lt|gt|quot);)+/gi

/** All elements, in the order in which they begin. @throws Error for what isn't well-formed */
export function elementsOf(xml: string): Element[] {
	const elements: Element[] = []
	const open: string[] = []
	let at = 0
	for (const match of xml.matchAll(TOKEN)) {
		if (match.index !== at) break
		at += match[0].length
		const [, close, name, text = '', isEmpty] = match
		if (name === undefined) continue
		if (close === '/') {
			if (open.pop() !== name) throw new Error(`</${name}> ends nothing at ${match.index}`)
			continue
		}
		elements.push({ name, text })
		if (isEmpty !== '/') open.push(name)
	}
	if (at !== xml.length) throw new Error(`no XML at ${at}: ${xml.slice(at, at + 60)}`)
	if (open.length > 0) throw new Error(`<${open.at(-1)}> has no end`)
	return elements
}
