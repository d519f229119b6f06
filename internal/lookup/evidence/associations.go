package evidence

import (
	"slices"
	"strings"

	"familiar/internal/text"
)

// associations are words that a question has and, of the same kind of event, those that an answer has: asked → answered.
var associations = kinTable(
	"play,plays,played,playing,star,starring,actor,actress,cast,character,role: star,starring,starred,actor,actress,portray,portrayed,cast,role,play,played,character,voice,voiced",
	"sing,sings,sang,song,singer,band: sing,sang,sung,vocal,recorded,singer,performed,song,single,band,record",
	"write,wrote,written,writer,author,book,novel,poem: write,written,wrote,author,novelist,novel,writer,poet,composed,composer,lyric,book",
	"film,filmed,shot,shoot: filmed,shot,filming,location,filming,shooting",
	"set,place,happen,happened,held: set,located,held,occurred,place,took,happened,location",
	"where,located,location: located,situated,location,lies,city,town,county,state,country,region,north,south,east,west,island,headquarter,based,near",
	"born,from,birth: born,birth,native",
	"die,died,death,dead: died,death,killed,buried",
	"made,make,invented,invent,created,create,founded,found,started,start,founder,began,begin,begun,introduced: created,founded,invented,introduced,established,developed,built,founder,inventor,launched,began,started,originated,first,formed,pioneered,credited,discovered",
	"come,came,out,release,released,premiere,air: released,premiered,premiere,release,debut,debuted,aired,published,launched,opened",
	"end,ended,over,finish,stop: ended,end,concluded,ceased,abolished,until,finished,phased,surrendered",
	"won,win,winner,champion: won,win,winner,winning,champion,victory,defeated,title,beat,defeating",
	"many,number,much,total,population: total,approximately,about,number,population,percent,million,billion,estimated,over,nearly,consist,average",
	"mean,meaning,symbolism,stand: mean,meaning,refer,derived,term,symbol,represent,derive,latin,greek,word",
	"name,called: named,name,called,known,title",
	"cost,price,worth,pay,paid,budget,spend: cost,budget,million,billion,price,spent,dollar,fee,salary,rate",
	"control,responsible,power,head,lead,leader,charge,run,runs: president,minister,leader,head,led,elected,appointed,governor,chief,director,king,queen,secretary",
	"function,purpose,job,role,used,use,do: function,purpose,used,use,serve,role,responsible,help,allow,provide,designed",
	"occupation,job,profession,work: politician,actor,singer,writer,player,footballer,musician,journalist,professor,lawyer,artist,engineer,author,scientist,businessman,director,composer,painter,poet,architect,photographer",
	"made,consist,part,composed,contain,ingredient: consist,composed,made,comprise,include,contain,part,divided",
	"married,wife,husband,marry,spouse: married,wife,husband,marriage,wed",
	"old,age: born,age,aged,year",
	"built,build,constructed: built,constructed,construction,completed,opened",
	"director,directed,produced,producer: directed,director,produced,producer",
	"genre: film,novel,album,band,comedy,drama,thriller,rock,pop,jazz,fiction",
	"capital: capital,city",
)

func kinTable(rows ...string) map[string][]string {
	out := map[string][]string{}
	for _, row := range rows {
		from, to, _ := strings.Cut(row, ":")
		var answers []string
		for _, w := range strings.Split(to, ",") {
			answers = append(answers, text.Fold(strings.TrimSpace(w)))
		}
		for _, w := range strings.Split(from, ",") {
			w = text.Fold(strings.TrimSpace(w))
			out[w] = slices.Concat(out[w], answers)
		}
	}
	return out
}
