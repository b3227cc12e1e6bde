/** The blog's initial records: a few hundred, always the same. */
import { angles, MONTHS } from './angles.ts'
import { ARTICLES, COMMENTS } from './magazine.ts'
import { READERS, REMARKS, WRITERS } from './people.ts'
import type { Article, Author, Comment } from './records.ts'
import { type Subject, subjects } from './subjects.ts'

export interface Seed {
	readonly authors: readonly Author[]
	/** The oldest first. */
	readonly articles: readonly Article[]
	readonly comments: readonly Comment[]
}

const HOUR = 3_600_000
/** The generated articles fill two years; the hand-written ones follow. */
const FIRST_DAY = Date.parse('2024-01-02T06:00:00Z')
const DAYS = 726

export function seed(): Seed {
	const random = randomFrom(20_261_120)
	const authors = WRITERS.map(([name, about, joined], at) => ({
		number: at + 1,
		name,
		email: `${plain(name)}@example.org`,
		about,
		joined,
	}))
	const generated = generatedArticles(authors, random)
	const byHand = ARTICLES.map(([author, day, tags, title, body], at) => ({
		...{ number: generated.length + at + 1, author, ...topicOf(tags), title, body },
		published: `${day}T08:30:00.000Z`,
	}))
	const answers = COMMENTS.map(([article, name, text], at) => {
		const { number, published } = byHand[article - 1] as Article // numbered from 1 in the magazine
		return { article: number, name, text, written: later(published, (at + 2) * HOUR) }
	})
	const articles = [...generated, ...byHand]
	return { authors, articles, comments: [...generatedComments(generated, random), ...answers] }
}

/** Every subject from every angle, in an order that looks as if editors had chosen it. */
function generatedArticles(authors: readonly Author[], random: () => number): Article[] {
	const pairs = subjects.flatMap((subject) => angles.map((angle) => ({ subject, angle, rank: random() })))
	pairs.sort((a, b) => a.rank - b.rank)
	return pairs.map(({ subject, angle }, at) => {
		const time = FIRST_DAY + Math.floor(((at + random() / 2) / pairs.length) * DAYS * 24) * HOUR
		const published = new Date(time).toISOString()
		const writers = authors.filter(({ joined }) => joined <= published)
		const facts = subject.facts.filter((_, fact) => fact !== at % 4)
		const month = MONTHS[new Date(time).getUTCMonth()]
		return {
			number: at + 1,
			author: oneOf(writers, random).number,
			topic: subject.topic,
			tags: [subject.name.replaceAll(' ', '-'), angle.tag],
			title: filled(angle.title, subject),
			body: [filled(angle.opening, subject), ...facts, month, angle.ending].join(' '),
			published,
		}
	})
}

/** Up to four per article, each with a different reader and remark. */
function generatedComments(articles: readonly Article[], random: () => number): Comment[] {
	return articles.flatMap(({ number, tags, published }) => {
		const count = Math.floor(random() * random() * 6)
		const [reader, remark] = [Math.floor(random() * READERS.length), Math.floor(random() * REMARKS.length)]
		let hours = 0
		return Array.from({ length: count }, (_, at) => {
			hours += 1 + Math.floor(random() * 60)
			return {
				article: number,
				name: READERS[(reader + at * 5) % READERS.length] ?? '',
				text: (REMARKS[(remark + at * 11) % REMARKS.length] ?? '').replace('@', spaced(tags[0])),
				written: later(published, hours * HOUR + Math.floor(random() * HOUR)),
			}
		})
	})
}

function topicOf(tags: string): { topic: string; tags: string[] } {
	const [topic = '', ...others] = tags.split(',')
	return { topic, tags: others.length === 0 ? [topic] : others }
}

function filled(template: string, { name }: Subject): string {
	const capital = name.charAt(0).toUpperCase() + name.slice(1)
	return template.replaceAll('@', name).replaceAll('%', capital)
}

function spaced(tag = ''): string {
	return tag.replaceAll('-', ' ')
}

function later(time: string, milliseconds: number): string {
	return new Date(Date.parse(time) + milliseconds).toISOString()
}

/** `Siobhán Byrne` as `siobhan.byrne`. */
function plain(name: string): string {
	const letters = name.toLowerCase().replaceAll('ł', 'l').normalize('NFD')
	return letters.replaceAll(/[^a-z ]/g, '').replaceAll(' ', '.')
}

function oneOf<T>(values: readonly T[], random: () => number): T {
	return values[Math.floor(random() * values.length)] as T // callers pass at least one, and random() is below 1
}

/** The same numbers from 0 to 1 each time: mulberry32. */
function randomFrom(start: number): () => number {
	let state = start
	return () => {
		state = (state + 0x6d2b79f5) | 0
		let mixed = Math.imul(state ^ (state >>> 15), state | 1)
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
	}
}
