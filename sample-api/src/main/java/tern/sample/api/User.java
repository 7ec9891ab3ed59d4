package tern.sample.api;

import java.io.Serializable;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A user with the twelve fields of the benchmark published by Apache Dubbo. The class is a bean, because all
 * serializers in the load tests support beans.
 */
public final class User implements Serializable {

    private static final long serialVersionUID = 1L;

    private long id;
    private String name = "";
    private int sex;
    private @Nullable LocalDate birthday;
    private String email = "";
    private String mobile = "";
    private String address = "";
    private String icon = "";
    private List<Integer> permissions = new ArrayList<>();
    private int status;
    private @Nullable LocalDateTime createTime;
    private @Nullable LocalDateTime updateTime;

    public long getId() {
        return id;
    }

    public void setId(long id) {
        this.id = id;
    }

    public String getName() {
        return name;
    }

    public void setName(String name) {
        this.name = name;
    }

    /** Returns the sex of the user: 1 or 2, or 0 if unknown. */
    public int getSex() {
        return sex;
    }

    public void setSex(int sex) {
        this.sex = sex;
    }

    public @Nullable LocalDate getBirthday() {
        return birthday;
    }

    public void setBirthday(@Nullable LocalDate birthday) {
        this.birthday = birthday;
    }

    public String getEmail() {
        return email;
    }

    public void setEmail(String email) {
        this.email = email;
    }

    public String getMobile() {
        return mobile;
    }

    public void setMobile(String mobile) {
        this.mobile = mobile;
    }

    public String getAddress() {
        return address;
    }

    public void setAddress(String address) {
        this.address = address;
    }

    /** Returns the URL of the user's picture. */
    public String getIcon() {
        return icon;
    }

    public void setIcon(String icon) {
        this.icon = icon;
    }

    /** Returns the ids of the user's permissions. */
    public List<Integer> getPermissions() {
        return permissions;
    }

    public void setPermissions(List<Integer> permissions) {
        this.permissions = permissions;
    }

    /** Returns the status of the user. The status is 1 if the user is active. */
    public int getStatus() {
        return status;
    }

    public void setStatus(int status) {
        this.status = status;
    }

    public @Nullable LocalDateTime getCreateTime() {
        return createTime;
    }

    public void setCreateTime(@Nullable LocalDateTime createTime) {
        this.createTime = createTime;
    }

    public @Nullable LocalDateTime getUpdateTime() {
        return updateTime;
    }

    public void setUpdateTime(@Nullable LocalDateTime updateTime) {
        this.updateTime = updateTime;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof User user
                && id == user.id
                && Objects.equals(name, user.name)
                && sex == user.sex
                && Objects.equals(birthday, user.birthday)
                && Objects.equals(email, user.email)
                && Objects.equals(mobile, user.mobile)
                && Objects.equals(address, user.address)
                && Objects.equals(icon, user.icon)
                && Objects.equals(permissions, user.permissions)
                && status == user.status
                && Objects.equals(createTime, user.createTime)
                && Objects.equals(updateTime, user.updateTime);
    }

    @Override
    public int hashCode() {
        return Objects.hash(id, email);
    }

    @Override
    public String toString() {
        return "User[id=" + id + ", name=" + name + ", email=" + email + "]";
    }
}
