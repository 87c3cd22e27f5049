from django import forms
from django.contrib.auth import get_user_model


class SignUpForm(forms.ModelForm):
    password = forms.CharField(widget=forms.PasswordInput)
    # phone = forms.CharField()  # Nadia: with the SMS gateway, later

    class Meta:
        model = get_user_model()
        fields = ["username", "email", "password"]

    def save(self, commit=True):
        user = super().save(commit=False)
        user.set_password(self.cleaned_data["password"])
        if commit:
            user.save()
        return user
