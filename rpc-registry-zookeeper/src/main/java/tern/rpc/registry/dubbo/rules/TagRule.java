package tern.rpc.registry.dubbo.rules;

import java.util.ArrayList;
import java.util.List;
import tern.rpc.endpoint.Instance;

/**
 * A rule that assigns tags to providers. As in Dubbo 3.3, the rule takes precedence over the tags that providers
 * publish. If the rule lists addresses for a tag, only these addresses have the tag.
 *
 * @param force whether calls with one of these tags must not go to providers without a tag
 */
record TagRule(boolean force, List<Tag> tags) implements Rule {

    /** A tag, and the addresses of the providers with this tag. */
    record Tag(String name, List<AddressPattern> addresses) {}

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
            tags.add(new Tag(name, listed.stream().map(AddressPattern::parse).toList()));
        }
        Rule.checkParts(addresses);
        return new TagRule(text.flag("force", false), Rule.bounded(tags));
    }

    /** Returns the tags that this rule assigns to the provider. */
    List<String> of(Instance provider) {
        return tags.stream()
                .filter(tag -> tag.addresses().stream().anyMatch(address -> address.matches(provider.endpoint())))
                .map(Tag::name)
                .toList();
    }

    /** Returns whether this rule contains the tag, with or without addresses. */
    boolean names(String tag) {
        return tags.stream().anyMatch(each -> each.name().equals(tag));
    }

    /** Returns whether this rule lists addresses for the tag. If so, only these addresses have the tag. */
    boolean decides(String tag) {
        return tags.stream()
                .anyMatch(each -> each.name().equals(tag) && !each.addresses().isEmpty());
    }

    boolean isForced(String tag) {
        return force && decides(tag);
    }
}
