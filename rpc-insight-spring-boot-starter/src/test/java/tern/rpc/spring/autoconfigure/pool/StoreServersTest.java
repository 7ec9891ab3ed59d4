package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Tests that the diagnosis recognizes data sources, or Redis clients, that use the same server. */
class StoreServersTest {

    @ParameterizedTest
    @CsvSource({
        "jdbc:postgresql://db:5432/shop?user=a&password=b, jdbc:postgresql://db:5432/shop",
        "jdbc:mysql://db/shop, jdbc:mysql://db/shop",
        "jdbc:h2:mem:shop;MODE=MySQL, jdbc:h2:mem:shop",
        "jdbc:sqlserver://db:1433;databaseName=shop,",
        "jdbc:postgresql://db/shop?currentSchema=a,",
        "jdbc:postgresql://db/shop?options=-c%20search_path=a,",
        "jdbc:edb://db/shop?searchpath=a,",
        "jdbc:oracle:thin:@//db:1521/shop,",
        "jdbc:h2:mem:,",
        "jdbc:h2:mem:;MODE=MySQL,",
        ","
    })
    void databaseIsInTheUrlWithoutParameters(String url, String database) {
        assertThat(DatabaseServer.of(url)).isEqualTo(database);
    }

    @Test
    void onlyARedisClientOfOneServerHasAKnownServer() {
        RedisClusterConfiguration cluster = new RedisClusterConfiguration().clusterNode("redis", 6380);

        assertThat(RedisWatch.server(new LettuceConnectionFactory("redis", 6380)))
                .isEqualTo("redis:6380");
        assertThat(RedisWatch.server(new LettuceConnectionFactory(cluster))).isNull();
        assertThat(RedisWatch.server(new LettuceConnectionFactory(new RedisStaticMasterReplicaConfiguration("redis"))))
                .isNull();
    }
}
