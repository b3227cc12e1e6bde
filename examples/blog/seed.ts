/** What the blog begins with: a small magazine about gardens and kitchens, written for this example. */
import type { Article, Author, Comment } from './records.ts'

export const authors: readonly Author[] = [
	{ id: 1, name: 'Marta Lindqvist', about: 'Keeps an allotment by the railway and writes about soil.' },
	{ id: 2, name: 'Tobias Arnet', about: 'Cook. Believes that most dishes want more acid.' },
	{ id: 3, name: 'Ines Carvalho', about: 'Botanist; collects verbenas, and neighbours who grow them.' },
	{ id: 4, name: 'Ruth Okafor', about: 'Balcony gardener, eleven floors up and always in the wind.' },
	{ id: 5, name: 'Jonas Feld', about: 'Beekeeper in the second generation, patient in the first.' },
	{ id: 6, name: 'Yuki Tanabe', about: 'Dyes wool with whatever the garden has too much of.' },
]

/** One line an article: author, day, tags, title, first sentences. */
const ARTICLES: readonly [number, string, string, string, string][] = [
	[
		3,
		'2026-01-12',
		'verbena,herbs',
		'Lemon verbena through the winter',
		'It looks dead in January and is not. Scratch the bark: green means wait, brown means cut lower and scratch again.',
	],
	[
		1,
		'2026-01-25',
		'soil',
		'A jar of earth and what it tells',
		'Shake a spoon of soil in a jar of water and leave it overnight. Sand falls first, clay last, and the lines between them are your garden.',
	],
	[
		2,
		'2026-02-03',
		'kitchen,preserves',
		'Salted lemons, four weeks early',
		'Freeze the lemons, thaw them, then salt. The frost has broken what the salt would have needed a month for.',
	],
	[
		4,
		'2026-02-17',
		'balcony,wind',
		'What survives on the eleventh floor',
		'Thyme, sedum, dwarf pine. Everything with big soft leaves was gone by March, mostly to the ninth floor.',
	],
	[
		5,
		'2026-03-01',
		'bees',
		'The first warm day',
		'At eleven degrees they come out to look. Stand to the side of the entrance, not before it, and count what they carry.',
	],
	[
		1,
		'2026-03-14',
		'soil,compost',
		'Compost without a thermometer',
		'Push an iron bar into the heap, wait a minute, and touch it. Too hot to hold: turn it. Barely warm: feed it.',
	],
	[
		6,
		'2026-03-22',
		'dye,onions',
		'Forty onion skins',
		'They give a copper that no shop sells, and it holds without any salt at all. Collect them dry, in paper.',
	],
	[
		3,
		'2026-04-05',
		'verbena,seeds',
		'Why Verbena bonariensis sows itself where it likes',
		'The seed wants light and one cold night. Under the mulch it waits; in the crack of the path it is at home.',
	],
	[
		2,
		'2026-04-19',
		'kitchen,herbs',
		'A green sauce for everything',
		'Seven herbs are tradition, three are enough: sorrel for the acid, chervil for the scent, parsley for the rest.',
	],
	[
		4,
		'2026-05-02',
		'balcony,water',
		'A wick, a bottle, two weeks away',
		'One cotton cord a pot, its other end in the bottle, and the bottle lower than the pot. It gave out on day fifteen.',
	],
	[
		5,
		'2026-05-16',
		'bees,swarm',
		'Swarms are house-hunting, not angry',
		'They have no home to defend and bellies full of honey. A box, a sheet and an hour of patience will do.',
	],
	[
		6,
		'2026-06-01',
		'dye,weeds',
		'Weld, woad, and other weeds',
		'Yellow from the gravel, blue from the verge, and green where one is dipped after the other.',
	],
	[
		1,
		'2026-06-20',
		'soil,water',
		'Water seldom, water much',
		'A cup a day keeps the roots at the surface. Two cans a week send them down to where it stays moist.',
	],
	[
		3,
		'2026-07-08',
		'verbena,tea',
		'Verbena tea, hot and cold',
		'Fresh leaves, water at eighty degrees, five minutes. For the cold one, the same leaves and a night in the fridge.',
	],
	[
		2,
		'2026-07-24',
		'kitchen,tomatoes',
		'Tomatoes want salt an hour before',
		'Cut, salt, wait. What runs out is the dressing, and it needs oil and nothing else.',
	],
	[
		4,
		'2026-08-11',
		'balcony,tomatoes',
		'The truth about balcony tomatoes',
		'Count the litres of earth, not the plants. Under fifteen litres you grow leaves.',
	],
	[
		5,
		'2026-08-30',
		'bees,honey',
		'When to stop taking',
		'Leave what they need to the first frost and half as much again. The shop has sugar; it does not have this.',
	],
	[
		6,
		'2026-09-18',
		'dye,verbena',
		'A grey from verbena stems',
		'Simmered with a rusty nail the stems give a soft grey. Without the nail, a beige that nobody asked for.',
	],
]

/** One line a comment: article, name, text. */
const COMMENTS: readonly [number, string, string][] = [
	[1, 'Hanna', 'Scratched mine today. Green down to the second fork.'],
	[1, 'Pavel', 'And if it is brown to the ground?'],
	[1, 'Ines Carvalho', 'Then wait until May all the same: the root decides.'],
	[2, 'Oskar', 'Mine is one line. All clay.'],
	[2, 'Leila', 'Did this with the whole class, thank you.'],
	[3, 'Greta', 'Does it work with limes?'],
	[3, 'Tobias Arnet', 'Better, even. Thinner skin.'],
	[4, 'Sam', 'Ninth floor here. Are you missing a basil?'],
	[5, 'Milan', 'Counted thirty with yellow legs: hazel, I suppose.'],
	[5, 'Ute', 'Ours came out at nine degrees. Brave or silly.'],
	[6, 'Oskar', 'The iron bar is genius. The heap was asleep.'],
	[7, 'Birgit', 'How many skins for a hundred grams of wool?'],
	[7, 'Yuki Tanabe', 'Thirty grams of skins; forty big onions, hence the title.'],
	[8, 'Noor', 'Confirmed: it only grows between my paving stones.'],
	[9, 'Frank', 'Seven or it is no green sauce. Regards from Frankfurt.'],
	[9, 'Tobias Arnet', 'I was afraid you would find this.'],
	[10, 'Lucie', 'Cord from the hardware shop or kitchen twine?'],
	[10, 'Ruth Okafor', 'Kitchen twine, doubled.'],
	[11, 'Emil', 'We had one in the letter box.'],
	[12, 'Birgit', 'Weld seeds itself like mad, be warned.'],
	[13, 'Hanna', 'My grandmother said the same in fewer words.'],
	[14, 'Aiko', 'With a slice of ginger!'],
	[15, 'Greta', 'An hour really makes the difference.'],
	[16, 'Sam', 'Fifteen litres. So that was it.'],
	[17, 'Milan', 'Half as much again is what my teacher said, too.'],
	[18, 'Noor', 'I did ask for beige.'],
]

export const articles: readonly Article[] = ARTICLES.map(([authorId, published, tags, title, body], at) => ({
	id: at + 1,
	authorId,
	published,
	tags: tags.split(','),
	title,
	body,
}))

export const comments: readonly Comment[] = COMMENTS.map(([articleId, name, text], at) => ({
	id: at + 1,
	articleId,
	name,
	text,
}))
