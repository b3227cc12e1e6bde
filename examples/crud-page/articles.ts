/** The page's initial articles, and the rules for new ones. */
import { MemoryModel } from '../../lib/index.ts' // you write 'verbena'

const PLANTS = ['Lemon verbena', 'Thyme', 'Sage', 'Hyssop', 'Lovage', 'Sweet cicely', 'Borage', 'Chervil']
const SUBJECTS = ['through the winter', 'from cuttings', 'in a pot', 'for tea', 'and its neighbours']
const FIRST_DAY = Date.UTC(2026, 0, 5, 9)
const DAY: number = 86_400_000

/** The address of an article is unique. */
export function articlesModel(): MemoryModel {
	return new MemoryModel('article', {
		fields: {
			id: 'integer',
			slug: { type: 'text', maxLength: 80 },
			title: { type: 'text', maxLength: 200 },
			body: { type: 'text', default: '' },
			status: { type: 'text', choices: ['draft', 'published'], default: 'draft' },
			created: { type: 'timestamp', default: () => new Date() },
			version: { type: 'integer', default: 1 },
		},
		key: 'id',
		unique: [['slug']],
		rows: PLANTS.flatMap((plant) => SUBJECTS.map((subject) => `${plant} ${subject}`)).map(articleOf),
	})
}

function articleOf(title: string, at: number) {
	return {
		slug: title.toLowerCase().replaceAll(' ', '-'),
		title,
		body: `What we have learned about ${title.toLowerCase()} in three years.`,
		status: at % 4 === 3 ? 'draft' : 'published',
		created: new Date(FIRST_DAY + at * 3 * DAY),
	}
}

export const RULES = {
	title: ['required', 'string', { min: 1, max: 200 }],
	slug: ['required', 'string', { pattern: /^[a-z0-9]+(?:-[a-z0-9]+)*$/, max: 80 }],
} as const
