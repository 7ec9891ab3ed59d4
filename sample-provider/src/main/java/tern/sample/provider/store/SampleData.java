package tern.sample.provider.store;

import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Creates the initial data: {@value #USERS} users, and agents with three skills. Tables that contain rows are not
 * changed.
 */
@Component
@DependsOnDatabaseInitialization
class SampleData implements InitializingBean {

    static final int USERS = 1_000;
    static final int AGENTS_PER_SKILL = 60;
    static final List<String> SKILLS = List.of("billing", "repair", "sales");

    private final JdbcTemplate jdbc;
    private final TransactionTemplate transactions;
    private final StringRedisTemplate redis;

    SampleData(JdbcTemplate jdbc, TransactionTemplate transactions, StringRedisTemplate redis) {
        this.jdbc = jdbc;
        this.transactions = transactions;
        this.redis = redis;
    }

    @Override
    public void afterPropertiesSet() {
        transactions.executeWithoutResult(status -> {
            if (jdbc.queryForList("select id from tenants limit 1").isEmpty()) {
                addUsers();
                addAgents();
                addTenants();
            }
        });
        addLoads();
    }

    private void addUsers() {
        LocalDateTime now = LocalDateTime.of(2026, 1, 1, 12, 0);
        LocalDate birthday = LocalDate.of(1980, 1, 1);
        jdbc.batchUpdate(
                """
                insert into users (id, name, sex, birthday, email, mobile, address, icon, permissions, status,
                    create_time, update_time) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                IntStream.rangeClosed(1, USERS)
                        .mapToObj(id -> new Object[] {
                            id,
                            "User " + id,
                            id % 2 + 1,
                            birthday.plusDays(id),
                            "user" + id + "@tern.example",
                            "+49 170 " + (1_000_000 + id),
                            id + " Coast Road, Tern Harbour",
                            "https://tern.example/icons/" + id + ".png",
                            "1,2,3,5,8,13,21,34,55,89",
                            1,
                            now,
                            now
                        })
                        .toList());
    }

    private void addAgents() {
        jdbc.batchUpdate(
                "insert into agents (id, name, skill) values (?, ?, ?)",
                agentIds()
                        .mapToObj(id -> new Object[] {id, "Agent " + id, SKILLS.get((int) (id % SKILLS.size()))})
                        .toList());
    }

    private void addTenants() {
        jdbc.batchUpdate(
                "insert into tenants (name, candidate_limit) values (?, ?)",
                List.of(new Object[] {"north", 40}, new Object[] {"south", 40}, new Object[] {"refused", 40}));
    }

    private void addLoads() {
        Map<String, String> loads = new HashMap<>();
        agentIds().forEach(id -> loads.put("agent:" + id + ":load", "0"));
        redis.opsForValue().multiSetIfAbsent(loads);
    }

    private static LongStream agentIds() {
        return LongStream.rangeClosed(1, (long) AGENTS_PER_SKILL * SKILLS.size());
    }
}
