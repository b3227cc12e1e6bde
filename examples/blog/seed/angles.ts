/** Templates of the generated articles: a title, a beginning and an end. */

export interface Angle {
	/** `@` is the subject, `%` the subject with a capital letter. */
	readonly title: string
	readonly tag: string
	readonly opening: string
	readonly ending: string
}

const LINES: readonly [title: string, tag: string, opening: string, ending: string][] = [
	[
		'A year with @',
		'diary',
		'I kept a notebook about @ from one January to the next, two lines a week.',
		'If I had to give up all but one bed, this is the one that would stay.',
	],
	[
		'% for beginners',
		'basics',
		'You need a spade, a can, and less patience than the books say: @ will teach you the rest.',
		'Begin with three plants. You can always be ambitious next year.',
	],
	[
		'Three mistakes with @',
		'mistakes',
		'All three are mine, and each cost me a summer.',
		'There is a fourth one, surely. Write to me when you have made it.',
	],
	[
		'What nobody tells you about @',
		'basics',
		'The seed packet has room for two sentences, and spends them on the weather.',
		'Now somebody has told you.',
	],
	[
		'% in a wet year',
		'weather',
		'It has rained on nineteen days this month, and the slugs hold meetings about the @.',
		'Next year it will be dry, and I shall have to write all of this again.',
	],
	[
		'% in a dry year',
		'weather',
		'The rain butt was empty from May on, so this is about @ and very little water.',
		'Mulch, shade, patience: in that order.',
	],
	[
		'The case for more @',
		'opinion',
		'Every autumn I plan the beds, and every autumn there is too little room for @.',
		'The lawn was never used anyway.',
	],
	[
		'Where to put @',
		'planning',
		'Before digging, stand in the garden at ten, at one and at five, and see where the sun is. Then think of @.',
		'If it does not thrive, move it in November and say nothing.',
	],
	[
		'Seed of @, kept and swapped',
		'seeds',
		'Our swap is on the last Saturday of February, and the jar of @ is always empty by noon.',
		'Label the bag. You will not remember, whatever you think today.',
	],
]

export const angles: readonly Angle[] = LINES.map(([title, tag, opening, ending]) => ({
	title,
	tag,
	opening,
	ending,
}))

/** A sentence for each month, from January on. */
export const MONTHS: readonly string[] = [
	'The ground is hard, so this is a month for plans and catalogues.',
	'The light is back, the warmth is not.',
	'Everything that was sown too early is now on the window sill, leaning.',
	'One warm day, three cold ones: leave the fleece where it is.',
	'After the last frost everything happens in the same week.',
	'The evenings are long enough to water by daylight.',
	'It is too hot to dig, so nobody has to.',
	'Whoever goes away now comes back to a jungle.',
	'The mornings are wet again, and the weeds know it.',
	'What is not in by now stays out until spring.',
	'Leaves are free; take all that the street leaves you.',
	'Tools want oil, and so does the gardener.',
]
