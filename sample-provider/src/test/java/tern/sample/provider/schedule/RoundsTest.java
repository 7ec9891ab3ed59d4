package tern.sample.provider.schedule;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.PropertiesPropertySourceLoader;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStringCommands;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.ValueOperations;
import tern.sample.provider.schedule.Agents.Agent;
import tern.sample.provider.schedule.ScheduleProperties.Authorization;
import tern.sample.provider.schedule.ScheduleProperties.Cost;
import tern.sample.provider.schedule.ScheduleProperties.Redis;

/** Tests the configuration errors that the profiles {@code round1} to {@code round5} reproduce. */
class RoundsTest {

    private static final List<Agent> AGENTS = List.of(new Agent(1, "one"), new Agent(2, "two"));

    private final StringRedisTemplate redis = mock(StringRedisTemplate.class);

    @SuppressWarnings("unchecked") // mock() returns a raw type, because a class literal has no type arguments
    private final ValueOperations<String, String> values = mock(ValueOperations.class);

    @Test
    void loadsComeInOneCommand() {
        when(redis.opsForValue()).thenReturn(values);
        when(values.multiGet(List.of("agent:1:load", "agent:2:load"))).thenReturn(List.of("7", "3"));

        assertThat(new AgentLoads(redis, properties(false)).of(AGENTS)).containsExactly(7, 3);
        verify(values, never()).get("agent:1:load");
    }

    @Test
    @SuppressWarnings("unchecked") // the matcher returns a raw type, because a class literal has no type arguments
    void serialLoadsComeInCommandsOfTheirOwn() {
        RedisConnection connection = mock(RedisConnection.class);
        RedisStringCommands commands = mock(RedisStringCommands.class);
        when(connection.stringCommands()).thenReturn(commands);
        when(commands.get("agent:1:load".getBytes(UTF_8))).thenReturn("7".getBytes(UTF_8));
        when(redis.execute(any(RedisCallback.class)))
                .thenAnswer(call -> call.getArgument(0, RedisCallback.class).doInRedis(connection));

        assertThat(new AgentLoads(redis, properties(true)).of(AGENTS)).containsExactly(7, 0);
        verify(commands, times(3)).get("agent:2:load".getBytes(UTF_8));
    }

    @ParameterizedTest
    @ValueSource(strings = {"round1", "round2", "round3", "round4", "round5"})
    void profileIsUnderstood(String profile) throws Exception {
        ClassPathResource file = new ClassPathResource("application-" + profile + ".properties");

        List<PropertySource<?>> sources = new PropertiesPropertySourceLoader().load(profile, file);
        ScheduleProperties properties =
                new Binder(ConfigurationPropertySources.from(sources)).bindOrCreate("sample", ScheduleProperties.class);

        assertThat(properties).isNotEqualTo(properties(false)).isNotNull();
    }

    private static ScheduleProperties properties(boolean serial) {
        return new ScheduleProperties(
                new Authorization(null, Duration.ZERO), new Redis(serial, 3), new Cost(0, 0, Duration.ZERO));
    }
}
