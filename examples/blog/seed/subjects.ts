/** The subjects of the generated articles: a name, a topic, and facts. */

export interface Subject {
	readonly name: string
	readonly topic: string
	readonly facts: readonly [string, string, string]
}

const LINES: readonly [topic: string, name: string, ...facts: [string, string, string]][] = [
	[
		'herbs',
		'thyme',
		'It wants a poor, dry place, and sulks in good earth.',
		'Cut it by a third after it has flowered, never into the old wood.',
		'Leaves picked in bloom keep their scent longest.',
	],
	[
		'herbs',
		'sage',
		'After four years the middle goes bare, and a cutting is quicker than a rescue.',
		'Fried for ten seconds in butter, the leaves break like glass.',
		'Frost does it no harm; wet feet in February do.',
	],
	[
		'herbs',
		'lovage',
		'One plant is enough for a street.',
		'It dies back to nothing in November and is taller than you in June.',
		'A single leaf does for a pot of soup.',
	],
	[
		'herbs',
		'chervil',
		'Sow it every three weeks, as it never stays.',
		'Half shade keeps it from running to seed.',
		'Heat takes its taste away, so it goes in last.',
	],
	[
		'herbs',
		'sorrel',
		'It is the first green of the year, weeks before the lettuce.',
		'Pull out the flower stems and it goes on until frost.',
		'In an iron pan it turns grey; nothing else is wrong with it.',
	],
	[
		'herbs',
		'hyssop',
		'The blue flowers are loud with bees from July on.',
		'It seeds itself into walls, if the wall is old enough.',
		'Use it where you would use rosemary, and half as much.',
	],
	[
		'kitchen',
		'rhubarb',
		'Leave it alone in its first year, however hard that is.',
		'An upturned bucket over the crown in February gives pink stems by Easter.',
		'Stop pulling at midsummer, so that it can feed itself.',
	],
	[
		'kitchen',
		'garlic',
		'It goes in when the last leaves come down, and it needs that cold.',
		'Stop watering when the lower leaves turn yellow.',
		'Plait it within a week, while the stems still bend.',
	],
	[
		'kitchen',
		'kale',
		'The first frost makes it sweet; there is no hurry before.',
		'Pick from the bottom, and the plant becomes a small palm.',
		'Massaged with salt and lemon it needs no cooking at all.',
	],
	[
		'kitchen',
		'broad beans',
		'Pinch out the tips when the lowest flowers have set: the blackfly then goes elsewhere.',
		'Sown in November they are a month ahead of those sown in March.',
		'The smallest pods can be eaten whole.',
	],
	[
		'kitchen',
		'runner beans',
		'They climb anticlockwise and will undo any help in the other direction.',
		'Miss one pod, and the plant thinks that its work is done.',
		'A trench full of kitchen scraps in winter is all the feeding they want.',
	],
	[
		'kitchen',
		'courgettes',
		'Two plants feed a family, three feed the neighbours, four end friendships.',
		'The first flowers are male and come to nothing.',
		'Cut them at the length of a hand; by tomorrow they are an arm.',
	],
	[
		'kitchen',
		'leeks',
		'Drop them into deep holes, water, and let the rain fill the earth in.',
		'They stand through any frost until you want them.',
		'Wash them slit lengthwise, upside down.',
	],
	[
		'kitchen',
		'chard',
		'Stems and leaves are two vegetables and want two pans.',
		'It comes again after winter, if a few leaves were left on.',
		'The yellow kind is the mildest, and the red one dyes the rice.',
	],
	[
		'fruit',
		'strawberries',
		'Plant them in August, and they bear in their first June.',
		'Straw under the fruit is for the slugs: it scratches.',
		'Take runners only from the plants that bore most.',
	],
	[
		'fruit',
		'blackcurrants',
		'The fruit is on the wood of last year, so a third of the oldest goes every winter.',
		'They are the one fruit that likes heavy, wet ground.',
		'A leaf in the jar of gherkins keeps them crisp.',
	],
	[
		'fruit',
		'quinces',
		'They are ripe when the down rubs off with a thumb.',
		'One in the linen cupboard scents it until Christmas.',
		'Two hours in the oven turn them red all by themselves.',
	],
	[
		'fruit',
		'medlars',
		'Pick them hard in November and wait until they look spoilt.',
		'The tree is small, wide, and never sprayed.',
		'With a sharp cheese they need no explanation.',
	],
	[
		'balcony',
		'nasturtiums',
		'In rich earth they make leaves, in poor earth flowers.',
		'The green seeds, pickled, pass for capers.',
		'They draw the blackfly away from everything else, which is a kind of help.',
	],
	[
		'balcony',
		'radishes',
		'From seed to plate in twenty-five days, on any window sill.',
		'Hollow ones were thirsty, hot ones were slow.',
		'The leaves make a soup that costs nothing.',
	],
	[
		'bees',
		'borage',
		'Its flowers fill with nectar again in two minutes.',
		'Sow it once: it finds its own place from then on.',
		'The blue stars freeze well in ice, and taste of cucumber.',
	],
	[
		'bees',
		'lavender',
		'It needs lime, sun, and a pair of shears in August.',
		'Bumblebees work it faster than honeybees, three flowers to one.',
		'Cut before the last flowers open it keeps its colour.',
	],
	[
		'dye',
		'marigolds',
		'The heads give a yellow that stays through fifty washes.',
		'Pick at noon, when they are dry and wide open.',
		'With a little iron the yellow becomes the green of old bronze.',
	],
	[
		'dye',
		'fennel',
		'The fronds dye wool lemon in spring and ochre in autumn.',
		'Keep it away from dill, or the seed of both is good for nothing.',
		'Let one go to seed for the swallowtails.',
	],
]

export const subjects: readonly Subject[] = LINES.map(([topic, name, ...facts]) => ({ topic, name, facts }))
