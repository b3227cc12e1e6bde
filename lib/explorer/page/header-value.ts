/** A header's value as text, with links where it has URLs of this server: Location and Link. */
import { type Child, link } from './dom.ts'
import { isPath } from './path.ts'

export function headerValue(name: string, value: string): Child[] {
	const lower = name.toLowerCase()
	if ((lower === 'location' || lower === 'content-location') && isPath(value)) return [link(value, value)]
	if (lower !== 'link') return [value]
	return value
		.split(/(<[^<>]*>)/)
		.flatMap((part): Child[] =>
			/^<\/[^>]*>$/.test(part) ? ['<', link(part.slice(1, -1), part.slice(1, -1)), '>'] : [part],
		)
}
