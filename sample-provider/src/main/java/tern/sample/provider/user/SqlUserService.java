package tern.sample.provider.user;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;
import tern.rpc.spring.RpcService;
import tern.sample.api.Page;
import tern.sample.api.User;
import tern.sample.api.UserService;

/** Stores users in an SQL database. Each call runs one or two statements. */
@RpcService
class SqlUserService implements UserService {

    private final JdbcClient jdbc;

    SqlUserService(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    @Override
    public boolean existUser(String email) {
        return jdbc.sql("select count(*) from users where email = ?")
                        .param(email)
                        .query(Integer.class)
                        .single()
                > 0;
    }

    @Override
    public boolean createUser(User user) {
        LocalDateTime now = LocalDateTime.now().truncatedTo(ChronoUnit.MILLIS);
        try {
            jdbc.sql("""
                            insert into users (name, sex, birthday, email, mobile, address, icon, permissions, status,
                                create_time, update_time) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                            """)
                    .param(user.getName())
                    .param(user.getSex())
                    .param(user.getBirthday())
                    .param(user.getEmail())
                    .param(user.getMobile())
                    .param(user.getAddress())
                    .param(user.getIcon())
                    .param(toColumn(user.getPermissions()))
                    .param(user.getStatus())
                    .param(now)
                    .param(now)
                    .update();
            return true;
        } catch (DuplicateKeyException e) {
            return false;
        }
    }

    @Override
    public @Nullable User getUser(long id) {
        return jdbc.sql("select * from users where id = ?")
                .param(id)
                .query(SqlUserService::toUser)
                .optional()
                .orElse(null);
    }

    @Override
    public Page<User> listUser(int pageNo) {
        if (pageNo < 1) {
            throw new IllegalArgumentException("pageNo is " + pageNo + "; the first page is 1");
        }
        int total = jdbc.sql("select count(*) from users").query(Integer.class).single();
        List<User> users = jdbc.sql("select * from users order by id limit ? offset ?")
                .params(PAGE_SIZE, (pageNo - 1L) * PAGE_SIZE)
                .query(SqlUserService::toUser)
                .list();
        return new Page<>(pageNo, total, users);
    }

    private static User toUser(ResultSet row, int index) throws SQLException {
        User user = new User();
        user.setId(row.getLong("id"));
        user.setName(row.getString("name"));
        user.setSex(row.getInt("sex"));
        user.setBirthday(row.getObject("birthday", LocalDate.class));
        user.setEmail(row.getString("email"));
        user.setMobile(row.getString("mobile"));
        user.setAddress(row.getString("address"));
        user.setIcon(row.getString("icon"));
        user.setPermissions(fromColumn(row.getString("permissions")));
        user.setStatus(row.getInt("status"));
        user.setCreateTime(row.getObject("create_time", LocalDateTime.class));
        user.setUpdateTime(row.getObject("update_time", LocalDateTime.class));
        return user;
    }

    private static String toColumn(List<Integer> permissions) {
        return permissions.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    private static List<Integer> fromColumn(String permissions) {
        return permissions.isEmpty()
                ? List.of()
                : Stream.of(permissions.split(",")).map(Integer::valueOf).toList();
    }
}
