package tern.rpc.spring.autoconfigure;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.Environment;
import org.springframework.core.env.Profiles;

/** The names of profiles that mark an application as being in production. */
public final class ProductionProfiles {

    private static final List<String> NAMES = List.of("prod", "production", "live", "prd");

    private ProductionProfiles() {}

    /** Returns the active profile that marks the application as being in production, or null if there is none. */
    public static @Nullable String activeIn(Environment environment) {
        return NAMES.stream()
                .filter(name -> environment.acceptsProfiles(Profiles.of(name)))
                .findFirst()
                .orElse(null);
    }
}
