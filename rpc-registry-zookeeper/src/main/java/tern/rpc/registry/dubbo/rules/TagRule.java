package tern.rpc.registry.dubbo.rules;

import java.util.ArrayList;
import java.util.List;
import tern.rpc.endpoint.Instance;

/**
 * A rule that assigns tags to providers.
 *
 * @param force whether calls with one of these tags must not go to providers without a tag
 */
record TagRule(boolean force, List<Tag> tags) implements Rule {

    /** A tag, and the addresses of the providers to which it is assigned. */
    record Tag(String name, List<String> addresses) {}

    static TagRule of(RuleText text) {
        text.allowHead("tags");
        List<Tag> tags = new ArrayList<>();
        int addresses = 0;
        for (RuleText tag : text.objects("tags")) {
            tag.allow("name", "addresses");
            String name = tag.text("name", "");
            if (name.isEmpty()) {
                throw new IllegalArgumentException("a tag has no name");
            }
            List<String> listed = Rule.bounded(tag.texts("addresses"));
            addresses += listed.size();
            tags.add(new Tag(name, listed));
        }
        if (addresses > MAX_PARTS) {
            throw new IllegalArgumentException("it has " + addresses + " addresses, more than " + MAX_PARTS);
        }
        return new TagRule(text.flag("force", false), Rule.bounded(tags));
    }

    List<String> of(Instance provider) {
        return tags.stream()
                .filter(tag -> tag.addresses().stream().anyMatch(address -> Fields.isAddress(address, provider)))
                .map(Tag::name)
                .toList();
    }

    boolean isForced(String tag) {
        return force
                && tags.stream()
                        .anyMatch(each ->
                                each.name().equals(tag) && !each.addresses().isEmpty());
    }
}
