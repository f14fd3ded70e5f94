// Reads a crate with the ro-crate library, which resolves links, and prints what the actions say.
const fs = require("fs");
const {ROCrate} = require(`${process.argv[2]}/node_modules/ro-crate`);

const crate = new ROCrate(JSON.parse(fs.readFileSync(0, "utf8")), {array: true, link: true});
const text = value => value?.[0]?.name ? value[0].name[0] : value?.[0];
const actions = crate.rootDataset.mentions.map(action => ({
    type: action["@type"][0],
    name: text(action.name),
    status: text(action.actionStatus ?? []),
    error: text(action.error ?? []),
    begin: text(action.startTime),
    end: text(action.endTime ?? []),
    agent: text(action.agent),
    instruments: action.instrument.map(tool => [tool.name[0], tool.softwareVersion?.[0]]),
    images: (action.containerImage ?? []).map(image => [image.registry?.[0], image.name[0], image.tag?.[0]]),
    usage: Object.fromEntries(action.resourceUsage.map(use => [use.propertyID[0].termCode[0], Number(use.value[0])])),
}));
console.log(JSON.stringify({profile: crate.rootDataset.conformsTo[0].name[0], actions}));
