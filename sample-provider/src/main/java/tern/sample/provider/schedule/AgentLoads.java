package tern.sample.provider.schedule;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisStringCommands;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Repository;
import tern.sample.provider.schedule.Agents.Agent;

/** Counts the tasks of each agent in Redis. */
@Repository
class AgentLoads {

    private final StringRedisTemplate redis;
    private final ScheduleProperties.Redis how;

    AgentLoads(StringRedisTemplate redis, ScheduleProperties properties) {
        this.redis = redis;
        this.how = properties.redis();
    }

    /** Reads all counters with one MGET, or with one GET per counter if {@code sample.redis.serial} is set. */
    int[] of(List<Agent> agents) {
        List<String> keys = agents.stream().map(AgentLoads::key).toList();
        List<@Nullable String> loads =
                how.serial() ? oneByOne(keys) : redis.opsForValue().multiGet(keys);
        return loads.stream()
                .mapToInt(load -> load == null ? 0 : Integer.parseInt(load))
                .toArray();
    }

    /** Uses one connection for all GETs, so that only the number of commands differs from MGET. */
    private List<@Nullable String> oneByOne(List<String> keys) {
        List<@Nullable String> loads = new ArrayList<>();
        redis.execute((RedisCallback<List<@Nullable String>>) connection -> {
            RedisStringCommands commands = connection.stringCommands();
            for (String key : keys) {
                byte[] load = null;
                for (int i = 0; i < how.reads(); i++) {
                    load = commands.get(key.getBytes(UTF_8));
                }
                loads.add(load == null ? null : new String(load, UTF_8));
            }
            return loads;
        });
        return loads;
    }

    int increment(Agent agent) {
        return redis.opsForValue().increment(key(agent)).intValue();
    }

    private static String key(Agent agent) {
        return "agent:" + agent.id() + ":load";
    }
}
